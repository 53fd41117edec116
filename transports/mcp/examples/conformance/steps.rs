//! Tools that take time, speak meanwhile, or ask the client something.

use std::rc::Rc;
use std::time::Duration;

use bridge_mcp::http::CallKey;
use bridge_mcp::provider::{Answer, BridgeCall};
use serde_json::{Value, json};

use crate::Server;
use crate::fixture::{members, text};

/// Runs a call and answers it.
pub(crate) async fn run(server: &Rc<Server>, key: CallKey, call: BridgeCall) {
    let params: Value = serde_json::from_str(&call.params).unwrap_or_default();
    let result = match call.method.as_str() {
        "test_tool_with_progress" => progress(server, key).await,
        "test_tool_with_logging" | "test_logging_tool" => logging(server, key, &params).await,
        "test_sampling" => sampling(server, key, &params).await,
        name => elicitation(server, key, name, &params).await,
    };
    let frame = members(&result).into_bytes();
    server.with(|front, now| front.handle_answer(key, Answer::Frame(frame), now));
}

async fn pause() {
    smol::Timer::after(Duration::from_millis(50)).await;
}

async fn progress(server: &Rc<Server>, key: CallKey) -> Value {
    for percent in [0.0, 50.0, 100.0] {
        server.with(|front, now| front.progress(key, percent, Some(100.0), None, now));
        pause().await;
    }
    text("Tool with progress executed")
}

async fn logging(server: &Rc<Server>, key: CallKey, params: &Value) -> Value {
    // A stateless client gets log messages only where it asked for them in this very request.
    let wanted =
        params["modern"] != true || params["_meta"].get("io.modelcontextprotocol/logLevel").is_some();
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        if wanted {
            let message = json!({"level": "info", "logger": "fixture", "data": words}).to_string();
            server.with(|front, now| front.notify(key, "notifications/message", &message, now));
        }
        pause().await;
    }
    text("Tool with logging executed")
}

async fn sampling(server: &Rc<Server>, key: CallKey, params: &Value) -> Value {
    let prompt = json!({"type": "text", "text": params["arguments"]["prompt"]});
    let question = json!({"messages": [{"role": "user", "content": prompt}], "maxTokens": 100}).to_string();
    match server.ask(key, "sampling/createMessage", &question).await {
        Some(Ok(answer)) => {
            let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
            text(&format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
        }
        _ => failed("the client does not sample"),
    }
}

async fn elicitation(server: &Rc<Server>, key: CallKey, name: &str, params: &Value) -> Value {
    let (message, schema) = match name {
        "test_elicitation" => (params["arguments"]["message"].as_str().unwrap_or("?"), contact()),
        "test_elicitation_sep1034_defaults" => ("Please check the defaults", defaults()),
        _ => ("Please choose", choices()),
    };
    let question = json!({"message": message, "requestedSchema": schema}).to_string();
    match server.ask(key, "elicitation/create", &question).await {
        Some(Ok(answer)) => {
            let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
            let action = answer["action"].as_str().unwrap_or_default();
            text(&format!("Elicitation completed: action={action}, content={}", answer["content"]))
        }
        _ => failed("the client asks nobody"),
    }
}

fn failed(words: &str) -> Value {
    let mut result = text(words);
    result["isError"] = true.into();
    result
}

fn contact() -> Value {
    json!({"type": "object", "required": ["username", "email"], "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }})
}

fn defaults() -> Value {
    json!({"type": "object", "required": [], "properties": {
        "name": {"type": "string", "description": "A name", "default": "John Doe"},
        "age": {"type": "integer", "description": "An age", "default": 30},
        "score": {"type": "number", "description": "A score", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Verified", "default": true},
    }})
}

fn choices() -> Value {
    let titled = |first: &str| {
        json!([
            {"const": "value1", "title": format!("First {first}")}, {"const": "value2", "title": format!("Second {first}")},
            {"const": "value3", "title": format!("Third {first}")},
        ])
    };
    let plain = json!(["option1", "option2", "option3"]);
    json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    }})
}
