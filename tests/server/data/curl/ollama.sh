# After the examples of Ollama's documentation (README.md and docs/api.md in https://github.com/ollama/ollama): their
# options, headers and fields, with other values. Most have no Content-Type: curl sends that of a form.

curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "prompt": "Good morning!"
}'

curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "prompt": "Good morning!",
  "stream": false
}'

# 400 suffix
curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "prompt": "def add(a, b):",
  "suffix": "    return sum",
  "options": {
    "temperature": 0
  },
  "stream": false
}'

curl -X POST http://localhost:11434/api/generate -H "Content-Type: application/json" -d '{
  "model": "llama3.2",
  "prompt": "How old is the boat?",
  "stream": false,
  "format": {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
}'

curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "prompt": "How old is the boat? Answer in JSON.",
  "format": "json",
  "stream": false
}'

curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "prompt":"What is in this picture?",
  "stream": false,
  "images": ["iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="]
}'

# 400 raw
curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "prompt": "[INST] Good morning! [/INST]",
  "raw": true,
  "stream": false
}'

curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "prompt": "Good morning!",
  "options": {
    "seed": 123
  }
}'

curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "prompt": "Good morning!",
  "stream": false,
  "options": {
    "num_keep": 5,
    "seed": 42,
    "num_predict": 100,
    "draft_num_predict": 4,
    "top_k": 20,
    "top_p": 0.9,
    "min_p": 0.0,
    "typical_p": 0.7,
    "repeat_last_n": 33,
    "temperature": 0.8,
    "repeat_penalty": 1.2,
    "presence_penalty": 1.5,
    "frequency_penalty": 1.0,
    "penalize_newline": true,
    "stop": ["\n", "user:"],
    "numa": false,
    "num_ctx": 1024,
    "num_batch": 2,
    "num_gpu": 1,
    "main_gpu": 0,
    "use_mmap": true,
    "num_thread": 8
  }
}'

# 200 "done_reason":"load"
curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2"
}'

# 200 "done_reason":"unload"
curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "keep_alive": 0
}'

curl http://localhost:11434/api/chat -d '{
  "model": "llama3.2",
  "messages": [{
    "role": "user",
    "content": "Good morning!"
  }],
  "stream": false
}'

curl http://localhost:11434/api/chat -d '{
  "model": "llama3.2",
  "messages": [
    {
      "role": "user",
      "content": "Good morning!"
    }
  ]
}'

curl http://localhost:11434/api/chat -d '{
  "model": "llama3.2",
  "messages": [{"role": "user", "content": "Is it warm in Oslo?"}],
  "tools": [
    {
      "type": "function",
      "function": {
        "name": "temperature",
        "description": "Returns the temperature in a city",
        "parameters": {
          "type": "object",
          "properties": {"city": {"type": "string", "description": "The city, as in Oslo"}},
          "required": ["city"]
        }
      }
    }
  ],
  "stream": true
}'

curl -X POST http://localhost:11434/api/chat -H "Content-Type: application/json" -d '{
  "model": "llama3.2",
  "messages": [{"role": "user", "content": "How old is the boat?"}],
  "stream": false,
  "format": {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]},
  "options": {
    "temperature": 0
  }
}'

curl http://localhost:11434/api/chat -d '{
  "model": "llama3.2",
  "messages": [
    {"role": "user", "content": "Good morning!"},
    {"role": "assistant", "content": "Bonjour."},
    {"role": "user", "content": "Where is the harbour?"}
  ]
}'

curl http://localhost:11434/api/chat -d '{
  "model": "llama3.2",
  "messages": [
    {"role": "user", "content": "Is it warm in Oslo?"},
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "temperature", "arguments": {"city": "Oslo"}}}]},
    {"role": "tool", "content": "4.5 degrees", "tool_name": "temperature"}
  ],
  "stream": false,
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

curl http://localhost:11434/api/chat -d '{
  "model": "llama3.2",
  "messages": [
    {
      "role": "user",
      "content": "What is in this picture?",
      "images": ["iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="]
    }
  ]
}'

curl http://localhost:11434/api/chat -d '{
  "model": "llama3.2",
  "messages": [{"role": "user", "content": "Good morning!"}],
  "options": {
    "seed": 101,
    "temperature": 0
  }
}'

# 200 "done_reason":"load"
curl http://localhost:11434/api/chat -d '{
  "model": "llama3.2",
  "messages": []
}'

# 200 "done_reason":"unload"
curl http://localhost:11434/api/chat -d '{
  "model": "llama3.2",
  "messages": [],
  "keep_alive": 0
}'

curl http://localhost:11434/api/tags

curl http://localhost:11434/api/show -d '{
  "model": "llama3.2"
}'

curl http://localhost:11434/api/ps

curl http://localhost:11434/api/version
