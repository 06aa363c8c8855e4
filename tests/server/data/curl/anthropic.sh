# After the examples of Anthropic's documentation (https://platform.claude.com/docs/en/api/messages,
# .../api/messages-count-tokens, .../api/models-list and .../build-with-claude/streaming): their options, headers and
# fields, with other values.

curl https://api.anthropic.com/v1/messages \
     --header "x-api-key: $ANTHROPIC_API_KEY" \
     --header "anthropic-version: 2023-06-01" \
     --header "content-type: application/json" \
     --data \
'{
    "model": "claude-opus-5-5",
    "max_tokens": 1024,
    "messages": [
        {"role": "user", "content": "Good morning!"}
    ]
}'

curl https://api.anthropic.com/v1/messages \
    -H 'Content-Type: application/json' \
    -H "X-Api-Key: $ANTHROPIC_API_KEY" \
    --max-time 600 \
    -d '{
      "max_tokens": 1024,
      "messages": [{"content": "Good morning!", "role": "user"}],
      "model": "claude-opus-5-5",
      "system": [{"text": "Answer in French.", "type": "text"}],
      "temperature": 1,
      "thinking": {"type": "adaptive"},
      "tools": [
        {
          "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
          "name": "temperature",
          "description": "Returns the temperature in a city"
        }
      ]
    }'

curl https://api.anthropic.com/v1/messages \
     --header "anthropic-version: 2023-06-01" \
     --header "content-type: application/json" \
     --header "x-api-key: $ANTHROPIC_API_KEY" \
     --data \
'{
  "model": "claude-opus-5-5",
  "messages": [{"role": "user", "content": "Good morning!"}],
  "max_tokens": 256,
  "stream": true
}'

curl -X POST https://api.anthropic.com/v1/messages \
     --header "authorization: Bearer $ANTHROPIC_API_KEY" \
     --header "anthropic-version: 2023-06-01" \
     --header "anthropic-beta: files-api-2025-04-14" \
     --header "content-type: application/json" \
     --data '{"model": "claude-opus-5-5", "max_tokens": 16, "messages": [{"role": "user", "content": "Good morning!"}]}'

curl https://api.anthropic.com/v1/messages/count_tokens \
    --header "x-api-key: $ANTHROPIC_API_KEY" \
    --header "content-type: application/json" \
    --header "anthropic-version: 2023-06-01" \
    --data '{
      "model": "claude-opus-5-5",
      "system": "Answer in French.",
      "messages": [{
        "role": "user",
        "content": "Good morning!"
      }]
    }'

curl https://api.anthropic.com/v1/models \
     --header "x-api-key: $ANTHROPIC_API_KEY" \
     --header "anthropic-version: 2023-06-01"

curl https://api.anthropic.com/v1/models/claude-opus-5-5 \
    -H "X-Api-Key: $ANTHROPIC_API_KEY"
