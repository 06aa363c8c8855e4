# After the examples of Google's documentation (https://ai.google.dev/gemini-api/docs/text-generation and
# https://ai.google.dev/api/generate-content, /tokens and /models): their options, headers and fields, with other values.

curl "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent" \
  -H "x-goog-api-key: $GEMINI_API_KEY" \
  -H 'Content-Type: application/json' \
  -X POST \
  -d '{
    "contents": [
      {
        "parts": [
          {
            "text": "Good morning!"
          }
        ]
      }
    ]
  }'

curl "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent" \
  -H "x-goog-api-key: $GEMINI_API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{
    "system_instruction": {"parts": [{"text": "Answer in French."}]},
    "contents": [{"parts": [{"text": "Good morning!"}]}],
    "generationConfig": {"stopSequences": ["Title"], "temperature": 1.0, "topP": 0.8, "topK": 10}
  }'

curl "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse" \
  -H "x-goog-api-key: $GEMINI_API_KEY" \
  -H 'Content-Type: application/json' \
  --no-buffer \
  -d '{"contents": [{"role": "user", "parts": [{"text": "Good morning!"}]}]}'

curl "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent" \
  -H "x-goog-api-key: $GEMINI_API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{"contents": [{"role": "user", "parts": [{"text": "Good morning!"}]}]}'

# 401 send it as a header
curl "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent?key=$GEMINI_API_KEY" \
  -H 'Content-Type: application/json' \
  -X POST \
  -d '{"contents": [{"parts": [{"text": "Good morning!"}]}]}'

curl https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:countTokens \
  -H "x-goog-api-key: $GEMINI_API_KEY" \
  -H 'Content-Type: application/json' \
  -X POST \
  -d '{
    "contents": [{
      "parts": [{
        "text": "Good morning!"
      }]
    }]
  }'

curl https://generativelanguage.googleapis.com/v1beta/models \
  -H "x-goog-api-key: $GEMINI_API_KEY"

curl https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash \
  -H "x-goog-api-key: $GEMINI_API_KEY"
