# After the examples of OpenAI's API reference (`x-oaiMeta` in https://github.com/openai/openai-openapi): their options,
# headers and fields, with other values.

curl https://api.openai.com/v1/chat/completions \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "model": "gpt-5.4",
    "messages": [
      {"role": "developer", "content": "Answer in French."},
      {"role": "user", "content": "Good morning!"}
    ]
  }'

# 400 this server downloads no files
curl https://api.openai.com/v1/chat/completions \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "model": "gpt-5.4",
    "messages": [
      {
        "role": "user",
        "content": [
          {"type": "text", "text": "What does the receipt say?"},
          {"type": "image_url", "image_url": {"url": "https://example.com/receipt.jpg"}}
        ]
      }
    ],
    "max_tokens": 300
  }'

curl https://api.openai.com/v1/chat/completions \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "model": "gpt-5.4",
    "messages": [
      {"role": "developer", "content": "Answer in French."},
      {"role": "user", "content": "Good morning!"}
    ],
    "stream": true
  }'

curl https://api.openai.com/v1/chat/completions \
-H "Content-Type: application/json" \
-H "Authorization: Bearer $OPENAI_API_KEY" \
-d '{
  "model": "gpt-5.4",
  "messages": [{"role": "user", "content": "Is it warm in Oslo?"}],
  "tools": [
    {
      "type": "function",
      "function": {
        "name": "temperature",
        "description": "Returns the temperature in a city",
        "parameters": {
          "type": "object",
          "properties": {
            "city": {"type": "string", "description": "The city, as in Oslo"},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}
          },
          "required": ["city"]
        }
      }
    }
  ],
  "tool_choice": "auto"
}'

curl https://api.openai.com/v1/chat/completions \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "model": "gpt-5.4",
    "messages": [{"role": "user", "content": "Good morning!"}],
    "logprobs": true,
    "top_logprobs": 2
  }'

curl https://api.openai.com/v1/completions \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model": "gpt-5.4", "prompt": "One, two,", "max_tokens": 7, "temperature": 0}'

curl https://api.openai.com/v1/completions \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model": "gpt-5.4", "prompt": "One, two,", "max_tokens": 7, "temperature": 0, "stream": true}'

# keep RESPONSE
curl https://api.openai.com/v1/responses \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model": "gpt-5.4", "input": "Tell me of a boat in two sentences."}'

# 400 this server downloads no files
curl https://api.openai.com/v1/responses \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "model": "gpt-5.4",
    "input": [
      {
        "role": "user",
        "content": [
          {"type": "input_text", "text": "What does the receipt say?"},
          {"type": "input_image", "image_url": "https://example.com/receipt.jpg"}
        ]
      }
    ]
  }'

# 400 this server downloads no files
curl https://api.openai.com/v1/responses \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "model": "gpt-5.4",
    "input": [
      {
        "role": "user",
        "content": [
          {"type": "input_text", "text": "What does the notice say?"},
          {"type": "input_file", "file_url": "https://example.com/notice.pdf", "detail": "auto"}
        ]
      }
    ]
  }'

curl https://api.openai.com/v1/responses \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model": "gpt-5.4", "tools": [{ "type": "web_search_preview" }], "input": "What is new in Oslo?"}'

curl https://api.openai.com/v1/responses \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "model": "gpt-5.4",
    "tools": [{"type": "file_search", "vector_store_ids": ["vs_1"], "max_num_results": 20}],
    "input": "What does a ticket cost?"
  }'

curl https://api.openai.com/v1/responses \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model": "gpt-5.4", "instructions": "Answer in French.", "input": "Good morning!", "stream": true}'

curl https://api.openai.com/v1/responses \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "model": "gpt-5.4",
    "input": "Is it warm in Oslo?",
    "tools": [
      {
        "type": "function",
        "name": "temperature",
        "description": "Returns the temperature in a city",
        "parameters": {
          "type": "object",
          "properties": {"city": {"type": "string", "description": "The city, as in Oslo"}},
          "required": ["city"]
        }
      }
    ],
    "tool_choice": "auto"
  }'

curl https://api.openai.com/v1/responses \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model": "gpt-5.4", "input": "How many boats fit into the harbour?", "reasoning": {"effort": "high"}}'

curl https://api.openai.com/v1/responses/$RESPONSE \
    -H "Content-Type: application/json" \
    -H "Authorization: Bearer $OPENAI_API_KEY"

curl https://api.openai.com/v1/responses/$RESPONSE/input_items \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY"

# 400 background
curl -X POST https://api.openai.com/v1/responses/$RESPONSE/cancel \
    -H "Content-Type: application/json" \
    -H "Authorization: Bearer $OPENAI_API_KEY"

curl -X DELETE https://api.openai.com/v1/responses/$RESPONSE \
    -H "Content-Type: application/json" \
    -H "Authorization: Bearer $OPENAI_API_KEY"

curl -X POST https://api.openai.com/v1/responses/input_tokens \
    -H "Content-Type: application/json" \
    -H "Authorization: Bearer $OPENAI_API_KEY" \
    -d '{
      "model": "gpt-5.4",
      "input": "Good morning!"
    }'

curl -X POST https://api.openai.com/v1/responses/compact \
    -H "Content-Type: application/json" \
    -H "Authorization: Bearer $OPENAI_API_KEY" \
    -d '{
      "model": "gpt-5.4",
      "input": [
        {"role": "user", "content": "Write a page for a café."},
        {
          "id": "msg_001",
          "type": "message",
          "status": "completed",
          "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "Here is the page: ..."}],
          "role": "assistant"
        }
      ]
    }'

# keep CONVERSATION
curl https://api.openai.com/v1/conversations \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"metadata": {"topic": "boats"}, "items": [{"type": "message", "role": "user", "content": "Good morning!"}]}'

curl https://api.openai.com/v1/conversations/$CONVERSATION \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl https://api.openai.com/v1/conversations/$CONVERSATION \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "metadata": {"topic": "harbours"}
  }'

# keep ITEM
curl https://api.openai.com/v1/conversations/$CONVERSATION/items \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "items": [
      {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Good morning!"}]},
      {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Where is the harbour?"}]}
    ]
  }'

curl "https://api.openai.com/v1/conversations/$CONVERSATION/items?limit=10" \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl https://api.openai.com/v1/conversations/$CONVERSATION/items/$ITEM \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl -X DELETE https://api.openai.com/v1/conversations/$CONVERSATION/items/$ITEM \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl -X DELETE https://api.openai.com/v1/conversations/$CONVERSATION \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl https://api.openai.com/v1/audio/speech \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "model": "gpt-4o-mini-tts",
    "input": "The ticket costs 12 euros.",
    "voice": "alloy"
  }' \
  --output speech.mp3

curl https://api.openai.com/v1/audio/speech \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"model": "gpt-4o-mini-tts", "input": "The ticket costs 12 euros.", "voice": "alloy", "stream_format": "sse"}'

curl https://api.openai.com/v1/audio/transcriptions \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: multipart/form-data" \
  -F file="@meeting.wav" \
  -F model="gpt-4o-transcribe"

curl https://api.openai.com/v1/audio/transcriptions \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: multipart/form-data" \
  -F file="@meeting.wav" \
  -F model="gpt-4o-transcribe-diarize" \
  -F response_format="diarized_json" \
  -F chunking_strategy=auto \
  -F 'known_speaker_names[]=ada' \
  -F 'known_speaker_references[]=data:audio/wav;base64,AAAA'

curl https://api.openai.com/v1/audio/transcriptions \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: multipart/form-data" \
  -F file="@meeting.wav" \
  -F model="gpt-4o-mini-transcribe" \
  -F stream=true

curl https://api.openai.com/v1/audio/transcriptions \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: multipart/form-data" \
  -F file="@meeting.wav" \
  -F "include[]=logprobs" \
  -F model="gpt-4o-transcribe" \
  -F response_format="json"

curl https://api.openai.com/v1/audio/transcriptions \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: multipart/form-data" \
  -F file="@meeting.wav" \
  -F "timestamp_granularities[]=word" \
  -F model="whisper-1" \
  -F response_format="verbose_json"

curl https://api.openai.com/v1/audio/transcriptions \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: multipart/form-data" \
  -F file="@meeting.wav" \
  -F "timestamp_granularities[]=segment" \
  -F model="whisper-1" \
  -F response_format="verbose_json"

# 400 translate
curl https://api.openai.com/v1/audio/translations \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -H "Content-Type: multipart/form-data" \
  -F file="@meeting.wav" \
  -F model="whisper-1"

curl https://api.openai.com/v1/images/generations \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model": "gpt-image-1.5", "prompt": "a red house by the sea", "n": 1, "size": "1024x1024"}'

curl https://api.openai.com/v1/images/generations \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model": "gpt-image-1.5", "prompt": "a red house by the sea", "n": 1, "size": "1024x1024", "stream": true}' \
  --no-buffer

# 400 expected one file, got 2
curl -s \
  -X POST "https://api.openai.com/v1/images/edits" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -F "model=gpt-image-1.5" \
  -F "image[]=@dot.png" \
  -F "image[]=@dot.png" \
  -F 'prompt=Put both on a table'

curl -s \
  -X POST "https://api.openai.com/v1/images/edits" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -F "model=gpt-image-1.5" \
  -F "image[]=@dot.png" \
  -F 'prompt=Put it on a table'

curl https://api.openai.com/v1/moderations \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "input": "a text"
  }'

curl https://api.openai.com/v1/moderations \
  -X POST \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "model": "omni-moderation-latest",
    "input": [
      { "type": "text", "text": "a text" },
      {"type": "image_url", "image_url": {"url": "https://example.com/image.png"}}
    ]
  }'

# keep FILE
curl https://api.openai.com/v1/files \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -F purpose="fine-tune" \
  -F file="@lines.jsonl" \
  -F expires_after[anchor]="created_at" \
  -F expires_after[seconds]=2592000

curl https://api.openai.com/v1/files \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl https://api.openai.com/v1/files/$FILE \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl https://api.openai.com/v1/files/$FILE/content \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl https://api.openai.com/v1/files/$FILE \
  -X DELETE \
  -H "Authorization: Bearer $OPENAI_API_KEY"

# keep UPLOAD
curl https://api.openai.com/v1/uploads \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "purpose": "fine-tune",
    "filename": "lines.jsonl",
    "bytes": 17,
    "mime_type": "text/jsonl",
    "expires_after": {
      "anchor": "created_at",
      "seconds": 3600
    }
  }'

# 400 A file has a name: with curl, write -F 'data=@FILE'
curl https://api.openai.com/v1/uploads/$UPLOAD/parts \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -F data="eyJsaW5lIjogMX0K"

# keep PART
curl https://api.openai.com/v1/uploads/$UPLOAD/parts \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -F data="@lines.jsonl"

curl https://api.openai.com/v1/uploads/$UPLOAD/complete \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{
    "part_ids": ["'$PART'"]
  }'

# keep UPLOAD
curl https://api.openai.com/v1/uploads \
  -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"purpose": "fine-tune", "filename": "lines.jsonl", "bytes": 17, "mime_type": "text/jsonl"}'

# 405 use POST
curl https://api.openai.com/v1/uploads/$UPLOAD/cancel \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl -X POST https://api.openai.com/v1/uploads/$UPLOAD/cancel \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl https://api.openai.com/v1/models \
  -H "Authorization: Bearer $OPENAI_API_KEY"

curl https://api.openai.com/v1/models/gpt-5.4 \
  -H "Authorization: Bearer $OPENAI_API_KEY"
