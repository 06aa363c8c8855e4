# After the examples of Cohere's API reference (https://docs.cohere.com/reference/chat and /reference/chat-stream): their
# options, headers and fields, with other values.

curl --request POST \
  --url https://api.cohere.com/v2/chat \
  --header 'accept: application/json' \
  --header 'content-type: application/json' \
  --header "Authorization: bearer $CO_API_KEY" \
  --data '{
    "model": "command-a-03-2025",
    "messages": [
      {
        "role": "user",
        "content": "Good morning!"
      }
    ]
  }'

curl --request POST \
  --url https://api.cohere.com/v2/chat \
  --header 'accept: application/json' \
  --header 'content-type: application/json' \
  --header "Authorization: bearer $CO_API_KEY" \
  --data '{"stream": true, "model": "command-a-03-2025", "messages": [{"role": "user", "content": "Good morning!"}]}'

curl --request POST \
  --url https://api.cohere.com/v2/chat \
  --header 'accept: application/json' \
  --header 'content-type: application/json' \
  --header "Authorization: bearer $CO_API_KEY" \
  --data '{
    "model": "command-a-03-2025",
    "messages": [{"role": "user", "content": "Is it warm in Oslo?"}],
    "tools": [
      {
        "type": "function",
        "function": {
          "name": "temperature",
          "description": "Returns the temperature in a city",
          "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        }
      }
    ]
  }'
