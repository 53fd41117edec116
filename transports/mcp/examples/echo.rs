//! An MCP server on stdin and stdout with no bridge behind it: every call is answered with what it would have been.
//!
//! It shows all that `bridged mcp` needs around the session: a way to the bridge, a clock, two streams. Try it with
//! `npx @modelcontextprotocol/inspector --cli target/debug/examples/echo --method tools/list`.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge_catalogue::JSON as CATALOGUE;
use bridge_mcp::provider::{Answer, BridgeCall, SaveFile};
use bridge_mcp::stdio::{Bridge, Clock, Options, serve};
use bridge_mcp::tools::{BridgeTools, ToolSet, Tools, ToolsConfig};
use bridge_mcp::{CallId, Config, Seed, Session};

struct Echo;

impl Bridge for Echo {
    async fn call(&self, _: CallId, request: BridgeCall) -> Answer {
        let frame = format!(
            r#"{{"id":"x","success":true,"result":{{"method":"{}","params":{},"timeout_ms":{}}}}}"#,
            request.method,
            request.params,
            request.timeout_ms.unwrap_or(30_000)
        );
        Answer::Frame(frame.into_bytes())
    }

    fn cancel(&self, _: CallId) {}

    async fn save(&self, _: SaveFile) -> Result<String, String> {
        Err("nothing is written here".to_owned())
    }
}

struct SystemClock(Instant);

impl Clock for SystemClock {
    type Sleep = std::pin::Pin<Box<dyn Future<Output = ()>>>;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_until(&self, at: Duration) -> Self::Sleep {
        let at = self.0 + at;
        Box::pin(async move {
            smol::Timer::at(at).await;
        })
    }
}

fn main() -> io::Result<()> {
    let set = ToolSet::parse(&std::env::args().nth(1).unwrap_or_default());
    let tools =
        Tools::new(CATALOGUE, &set).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    // A real server draws its seed from the system.
    let provider = BridgeTools::new(Arc::new(ToolsConfig::default()), Arc::new(tools), Seed::new([0; 32]));
    let mut session = Session::new(Config::default(), provider);
    let (stdin, stdout) = (smol::Unblock::new(io::stdin()), smol::Unblock::new(io::stdout()));
    smol::block_on(serve(
        &mut session,
        stdin,
        stdout,
        &Echo,
        &SystemClock(Instant::now()),
        &Options::default(),
    ))
}
