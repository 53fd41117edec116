//! The subcommands of `bridged` as argh reads them; what they say here is their help.

mod given;

use argh::FromArgs;

/// A browser bridge: lets scripts and agents drive the browser you are using.
#[derive(FromArgs)]
#[argh(
    example = "bridged extension install ~/bridged-extension   # then load that folder in chrome://extensions",
    example = "bridged start",
    example = "bridge new-tab https://example.com",
    note = "Every flag of `serve` is also a key in the configuration file and a variable, as `port` and BRIDGED_PORT."
)]
pub(crate) struct Bridged {
    /// print the version
    #[argh(switch)]
    pub version: bool,
    #[argh(subcommand)]
    pub command: Option<Command>,
}

#[derive(FromArgs)]
#[argh(subcommand)]
pub(crate) enum Command {
    Serve(Serve),
    Start(Start),
    Stop(Stop),
    Restart(Restart),
    Status(Status),
    Logs(Logs),
    Extension(Extension),
    Pair(Pair),
    Pairings(Pairings),
    Approve(Approve),
    Revoke(Revoke),
    ResetPairing(ResetPairing),
    Token(Token),
    Policy(Policy),
    Mcp(Mcp),
    Install(Install),
    Skill(Skill),
    Doctor(Doctor),
    Audit(Audit),
    Demo(Demo),
    Completions(Completions),
}

/// Run the daemon in the foreground, until Ctrl-C.
#[derive(FromArgs, Clone, Default)]
#[argh(subcommand, name = "serve", example = "bridged serve --port 9300 --log debug")]
pub(crate) struct Serve {
    /// port on 127.0.0.1 for extensions and WebSocket clients (default 9225; 0 picks a free one and prints it)
    #[argh(option)]
    pub port: Option<String>,
    /// port on 127.0.0.1 for HTTP: /command, /mcp, /read (default 10088; 0 picks a free one, `off` closes that door)
    #[argh(option)]
    pub http_port: Option<String>,
    /// the Unix socket (default $XDG_RUNTIME_DIR/bridged/bridged.sock)
    #[argh(option)]
    pub socket: Option<String>,
    /// how many may be connected at once (default 2048)
    #[argh(option)]
    pub max_connections: Option<String>,
    /// another limit, NAME=VALUE (docs/configuration.md lists them); may be repeated
    #[argh(option)]
    pub limit: Vec<String>,
    /// id of another extension that may connect, besides our own; may be repeated
    #[argh(option)]
    pub allow_extension: Vec<String>,
    /// off, error, warn, info (default), debug or trace; goes to standard error
    #[argh(option)]
    pub log: Option<String>,
    /// who may use the base protocol without a token: same-user (default) or strict
    #[argh(option)]
    pub compat: Option<String>,
    /// allow `--compat open`, for tests only
    #[argh(switch, hidden_help)]
    pub insecure_compat: bool,
    /// detach from the terminal's session; `bridged start` sets it
    #[argh(switch, hidden_help)]
    pub background: bool,
}

/// Start the daemon in the background, if none runs.
#[derive(FromArgs, Clone, Default)]
#[argh(subcommand, name = "start", example = "bridged start --port 9300")]
pub(crate) struct Start {
    /// port on 127.0.0.1 (default 9225)
    #[argh(option)]
    pub port: Option<String>,
    /// port on 127.0.0.1 for HTTP (default 10088; `off` closes that door)
    #[argh(option)]
    pub http_port: Option<String>,
    /// the Unix socket
    #[argh(option)]
    pub socket: Option<String>,
    /// how many may be connected at once
    #[argh(option)]
    pub max_connections: Option<String>,
    /// another limit, NAME=VALUE; may be repeated
    #[argh(option)]
    pub limit: Vec<String>,
    /// id of another extension that may connect; may be repeated
    #[argh(option)]
    pub allow_extension: Vec<String>,
    /// off, error, warn, info, debug or trace; `bridged logs` shows it
    #[argh(option)]
    pub log: Option<String>,
    /// who may use the base protocol without a token: same-user or strict
    #[argh(option)]
    pub compat: Option<String>,
}

/// Stop the daemon; every call in progress is answered first.
#[derive(FromArgs)]
#[argh(subcommand, name = "stop", example = "bridged stop")]
pub(crate) struct Stop {}

/// Stop the daemon if one runs, and start it with the same flags.
#[derive(FromArgs)]
#[argh(subcommand, name = "restart", example = "bridged restart")]
pub(crate) struct Restart {}

/// Show whether the daemon runs, where, and which browsers are connected (exit code 3 if it does not run).
#[derive(FromArgs)]
#[argh(subcommand, name = "status", example = "bridged status --json")]
pub(crate) struct Status {
    /// as one JSON object
    #[argh(switch)]
    pub json: bool,
}

/// Show the background daemon's log.
#[derive(FromArgs)]
#[argh(subcommand, name = "logs", example = "bridged logs -f")]
pub(crate) struct Logs {
    /// go on with what comes
    #[argh(switch, short = 'f')]
    pub follow: bool,
}

/// The browser extension that this program carries.
#[derive(FromArgs)]
#[argh(
    subcommand,
    name = "extension",
    example = "bridged extension install ~/bridged-extension",
    note = "Then open chrome://extensions, switch on Developer mode, press `Load unpacked` and choose that folder."
)]
pub(crate) struct Extension {
    #[argh(subcommand)]
    pub command: ExtensionCommand,
}

#[derive(FromArgs)]
#[argh(subcommand)]
pub(crate) enum ExtensionCommand {
    Install(ExtensionInstall),
    Path(ExtensionPath),
    Upgrade(ExtensionUpgrade),
}

/// Unpack the extension into a folder, with a key of its own. Again: newer files, new key, the old one ends.
#[derive(FromArgs)]
#[argh(
    subcommand,
    name = "install",
    example = "bridged extension install ~/bridged-extension",
    note = "Then open chrome://extensions, switch on Developer mode, press `Load unpacked` and choose that folder."
)]
pub(crate) struct ExtensionInstall {
    /// the folder, empty or not there yet (default ~/.local/share/bridged/extension)
    #[argh(positional)]
    pub dir: Option<String>,
    /// the port that it dials (default: the running daemon's, else as configured)
    #[argh(option)]
    pub port: Option<String>,
}

/// Print the folder that the extension was unpacked to.
#[derive(FromArgs)]
#[argh(subcommand, name = "path", example = "bridged extension path")]
pub(crate) struct ExtensionPath {}

/// Renew the unpacked extension's files after this program was updated; its key stays. Then press its reload arrow.
#[derive(FromArgs)]
#[argh(subcommand, name = "upgrade", example = "bridged extension upgrade")]
pub(crate) struct ExtensionUpgrade {}

/// Print a key to paste into the extension's popup, for an extension that did not come from `extension install`.
#[derive(FromArgs)]
#[argh(subcommand, name = "pair", example = "bridged pair")]
pub(crate) struct Pair {}

/// List who may connect.
#[derive(FromArgs)]
#[argh(subcommand, name = "pairings", example = "bridged pairings")]
pub(crate) struct Pairings {
    /// as one JSON object
    #[argh(switch)]
    pub json: bool,
}

/// Let an extension of the base protocol in by its id, without a key.
#[derive(FromArgs)]
#[argh(subcommand, name = "approve", example = "bridged approve abcdefghijklmnopabcdefghijklmnop")]
pub(crate) struct Approve {
    /// the extension's id, as chrome://extensions shows it
    #[argh(positional)]
    pub id: String,
}

/// End a pairing or an approval; its session is closed.
#[derive(FromArgs)]
#[argh(subcommand, name = "revoke", example = "bridged revoke k-3fGh7_xQ")]
pub(crate) struct Revoke {
    /// a key, label, browser or extension id, as `bridged pairings` shows them
    #[argh(positional)]
    pub name: String,
}

/// Make all keys new: every pairing and the token end, every session is closed.
#[derive(FromArgs)]
#[argh(subcommand, name = "reset-pairing", example = "bridged reset-pairing")]
pub(crate) struct ResetPairing {}

/// Print the token that WebSocket clients may say hello with; `token rotate` makes a new one.
#[derive(FromArgs)]
#[argh(subcommand, name = "token", example = "bridged token rotate")]
pub(crate) struct Token {
    /// what to do with it: `rotate` makes a new one, the old one works for another minute
    #[argh(positional)]
    pub action: Option<String>,
}

/// What the bridge may do: changed here and in the extension's popup, never by a program that uses the bridge.
#[derive(FromArgs)]
#[argh(
    subcommand,
    name = "policy",
    example = "bridged policy set pause on   # every call is refused until `pause off`",
    example = "bridged policy set deny 'bank.example, *.mail.example'",
    note = "Policies: pause, read-only, evaluate, uploads, user-tabs, allow, deny; `bridged policy set --help` says what they mean."
)]
pub(crate) struct Policy {
    #[argh(subcommand)]
    pub command: PolicyCommand,
}

#[derive(FromArgs)]
#[argh(subcommand)]
pub(crate) enum PolicyCommand {
    Show(PolicyShow),
    Set(PolicySet),
}

/// Show what is allowed.
#[derive(FromArgs)]
#[argh(subcommand, name = "show", example = "bridged policy show")]
pub(crate) struct PolicyShow {
    /// as one JSON object
    #[argh(switch)]
    pub json: bool,
}

/// Change one policy; it holds at once and is kept.
#[derive(FromArgs)]
#[argh(
    subcommand,
    name = "set",
    example = "bridged policy set pause on",
    example = "bridged policy set evaluate on --for 30m",
    note = "pause on|off: refuse every call, reading too, until it is off again.",
    note = "read-only on|off: carry out only what changes nothing.",
    note = "evaluate on|off: let code run in the pages' own world; ends by itself after an hour or what --for says.",
    example = "bridged policy set deny 'bank.example, *.mail.example'",
    example = "bridged policy set deny +shop.example -bank.example",
    note = "uploads on|off: let agents upload files too; persons always may.",
    note = "user-tabs allow|ask|deny: what agents may do in your own tabs; `ask` asks you once for each site.",
    note = "allow SITES|none: work on these sites only, whoever asks; without any, on every site.",
    note = "deny SITES|none: never work on these sites; it beats allow.",
    note = "SITES: host, *.host (and all beneath it) or IP address, with https:// before and :8080 after it if need be. They replace the list; +SITE adds one, -SITE takes one off."
)]
pub(crate) struct PolicySet {
    /// which one: pause, read-only, evaluate, uploads, user-tabs, allow or deny
    #[argh(positional)]
    pub key: String,
    /// on or off; allow, ask or deny; sites
    #[argh(positional)]
    pub value: String,
    /// more sites
    #[argh(positional)]
    pub more: Vec<String>,
    /// with `evaluate on`: for how long, as 90s, 30m or 2h; a day at most
    #[argh(option, long = "for")]
    pub length: Option<String>,
}

/// Serve MCP on standard input and output, for an agent's configuration; starts the daemon if none runs.
#[derive(FromArgs)]
#[argh(subcommand, name = "mcp", example = "bridged mcp --tools core,act")]
pub(crate) struct Mcp {
    /// which tools: core (default), all, or names of groups and methods with commas between
    #[argh(option)]
    pub tools: Option<String>,
}

/// Tell the MCP clients of this account about the bridge, give their agents a skill, the system a service, and unpack the
/// extension if it is not yet. Says each thing it does; doing it again changes nothing.
#[derive(FromArgs)]
#[argh(
    subcommand,
    name = "install",
    example = "bridged install --dry-run   # what would be done",
    example = "bridged install claude-code codex",
    example = "bridged install --uninstall",
    note = "Clients: claude-code, claude-desktop, codex, cursor, gemini, vscode, windsurf; parts: extension, service.",
    note = "Without names: the parts and every client that is used here. Other entries, comments and formatting stay; a copy is kept beside each file."
)]
pub(crate) struct Install {
    /// say what would be done, and change nothing
    #[argh(switch)]
    pub dry_run: bool,
    /// take back what an installation did; keys and the extension stay
    #[argh(switch)]
    pub uninstall: bool,
    /// clients and parts (default: all that are used here)
    #[argh(positional)]
    pub parts: Vec<String>,
}

/// Print the skill file that tells an agent how to use this version.
#[derive(FromArgs)]
#[argh(subcommand, name = "skill", example = "bridged skill > ~/.claude/skills/bridged/SKILL.md")]
pub(crate) struct Skill {}

/// Check everything that a call passes through, and say what to do about each thing that is wrong (exit code 1 if calls fail).
#[derive(FromArgs)]
#[argh(
    subcommand,
    name = "doctor",
    example = "bridged doctor --fix",
    note = "It disturbs nothing: no browser and no page notices it."
)]
pub(crate) struct Doctor {
    /// as one JSON object
    #[argh(switch)]
    pub json: bool,
    /// also do what can do no harm: start the daemon, close files to others, renew the extension's files and the skill
    #[argh(switch)]
    pub fix: bool,
    /// look at who may come in by which door, the files that guard that, and what is allowed, instead
    #[argh(switch)]
    pub security: bool,
}

/// Show who asked for what and what came of it, one JSON object a line: each call that changes something or was refused, and
/// one a second of each kind of reading. Never what was typed, read or run.
#[derive(FromArgs)]
#[argh(
    subcommand,
    name = "audit",
    example = "bridged audit -f",
    example = "bridged audit | jq 'select(.decision == \"deny\")'"
)]
pub(crate) struct Audit {
    /// go on with what comes
    #[argh(switch, short = 'f')]
    pub follow: bool,
}

/// Watch the bridge at work: a Chromium with a fresh profile fills in a form, step by step. Nothing of yours is touched.
#[derive(FromArgs)]
#[argh(subcommand, name = "demo", example = "bridged demo --headless -o demo.png")]
pub(crate) struct Demo {
    /// without a window even if there is a display
    #[argh(switch)]
    pub headless: bool,
    /// the Chromium or Chrome to use (default: the first that is found)
    #[argh(option)]
    pub browser: Option<String>,
    /// where the picture goes (default demo.png)
    #[argh(option, short = 'o')]
    pub output: Option<String>,
}

/// Print completions for a shell: bash, zsh or fish.
#[derive(FromArgs)]
#[argh(subcommand, name = "completions", example = "source <(bridged completions bash)")]
pub(crate) struct Completions {
    /// bash, zsh or fish
    #[argh(positional)]
    pub shell: Option<String>,
}

/// Each subcommand and what it does, for completions.
pub(crate) fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    <Command as argh::SubCommands>::COMMANDS.iter().map(|c| (c.name, c.description))
}

/// What a command is divided into, if it is.
pub(crate) fn beneath(command: &str) -> impl Iterator<Item = &'static str> {
    let parts: &[&argh::CommandInfo] = match command {
        "extension" => <ExtensionCommand as argh::SubCommands>::COMMANDS,
        "policy" => <PolicyCommand as argh::SubCommands>::COMMANDS,
        _ => &[],
    };
    parts.iter().map(|part| part.name)
}
