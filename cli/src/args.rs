//! The command line: what may be said and what it means. No decision is taken here.
//! Of settings (target, code, messages) the last one counts, as build scripts expect.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  gpucc shader.wgsl --target r700                      assembly of every entry point
  gpucc shader.wgsl --target r700 --entry main --emit bin -o main.bin
  gpucc shader.wgsl --target r700 --emit json --stats  the report, and a table on stderr
  gpucc run saxpy.wgsl --target r700 --groups 1 --set 0.0=f32:2 --set 0.1=f32:1,2 \\
      --set 0.2=f32:3,4 --dump 0.2
  gpucc render phong.wgsl --target r700 --size 256x256 --draw 4608,3 --depth -o phong.png
  gpucc verify shader.wgsl --target r700               a proof that bytes and reference agree
  gpucc disasm --target r700 main.bin | gpucc asm --target r700 - | cmp - main.bin

Exit codes:
  0 done   1 the shader is wrong   2 wrong usage or unreadable file   3 this machine cannot do it
  4 a limit   5 mismatch   6 not supported by gpucc yet   101 a bug of gpucc";

/// Compiles shaders to machine code for GPUs whose instruction sets are documented.
#[derive(Debug, Parser)]
#[command(
    name = "gpucc",
    version = gpucc::PRODUCER.trim_start_matches("gpucc "),
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "gpucc [OPTIONS] <INPUT>\n       gpucc <COMMAND> [OPTIONS]"
)]
pub struct Cli {
    /// What to do instead of compiling.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Compile.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// Sub-commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Turn assembly text into machine code
    Asm(AsmArgs),
    /// Turn machine code into assembly text
    Disasm(DisasmArgs),
    /// Execute a compute entry point on the emulated machine
    Run(RunArgs),
    /// Draw with a vertex and a fragment entry point on the emulated machine
    Render(RenderArgs),
    /// Prove the encoded bytes against the reference interpreter
    Verify(VerifyArgs),
    /// Compile folders and lists of files
    Batch(BatchArgs),
    /// Compare the code of one shader on every machine
    Compare(CompareArgs),
    /// Compare the figures of two runs: what got better, what got worse
    Report(ReportArgs),
    /// List targets, chips, limits and what each machine refuses
    Targets(TargetsArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
}

/// `--target` and `--chip`.
#[derive(Clone, Debug, Args)]
pub struct TargetArgs {
    /// Machine: r600, r700, gen4, g45, valhall, rogue or interp
    #[arg(long, value_name = "T", help_heading = "Target", overrides_with = "target")]
    pub target: Option<String>,
    /// Member of the family [default: the first one that `gpucc targets` lists]
    #[arg(long, value_name = "C", help_heading = "Target", overrides_with = "chip")]
    pub chip: Option<String>,
}

/// What is read and how.
#[derive(Clone, Debug, Args)]
pub struct SourceArgs {
    /// Language, where the name of the file does not say it
    #[arg(long, value_name = "LANG", help_heading = "Input")]
    pub lang: Option<Lang>,
    /// Value of an override or a SPIR-V specialization constant, by its name or id
    #[arg(long = "override", value_name = "NAME=VALUE", help_heading = "Input")]
    pub overrides: Vec<String>,
    /// Value of every override that has no default
    #[arg(long, value_name = "N", help_heading = "Input", allow_negative_numbers = true)]
    pub overrides_default: Option<f64>,
    /// GLSL macro, and its replacement (empty when absent)
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Input")]
    pub defines: Vec<String>,
    /// Folder that GLSL's `#include` searches. A name in quotes is searched beside the including file
    /// first
    #[arg(short = 'I', value_name = "DIR", help_heading = "Input")]
    pub include_dirs: Vec<PathBuf>,
    /// Pipeline state: vertex formats, colour targets, binding slots and more
    #[arg(long, value_name = "FILE.json", help_heading = "Input")]
    pub pipeline: Option<PathBuf>,
}

/// How code is made.
#[derive(Clone, Debug, Args)]
pub struct CodeArgs {
    /// Effort. `max` also tries several schedules
    #[arg(
        short = 'O',
        value_name = "LEVEL",
        default_value = "2",
        help_heading = "Code",
        overrides_with = "opt"
    )]
    pub opt: Opt,
    /// What an access out of bounds does: `restrict` (default) clamps, `zero` reads 0 and drops writes,
    /// `off` leaves it undefined
    #[arg(long, value_name = "RULE", help_heading = "Code", overrides_with = "robust")]
    pub robust: Option<Robust>,
    /// End every loop after 2^64-1 trips
    #[arg(long, value_name = "on|off", num_args = 0..=1, require_equals = true, default_missing_value = "on", help_heading = "Code", overrides_with = "bound_loops")]
    pub bound_loops: Option<Switch>,
    /// Fill workgroup memory with zeros at the start
    #[arg(long, value_name = "on|off", num_args = 0..=1, require_equals = true, default_missing_value = "on", help_heading = "Code", overrides_with = "zero_workgroup")]
    pub zero_workgroup: Option<Switch>,
    /// What code may rest on: `proven` (public drivers run it), `manual` (also what only the manual
    /// describes), `any`
    #[arg(long, value_name = "CLASS", help_heading = "Code", overrides_with = "evidence")]
    pub evidence: Option<Evidence>,
    /// Skip a pass
    #[arg(long, value_name = "PASS", help_heading = "Passes")]
    pub skip: Vec<String>,
    /// Run no shared pass after this one
    #[arg(long, value_name = "PASS", help_heading = "Passes")]
    pub stop_after: Option<String>,
    /// Stop optimising after N rewrites, to bisect a miscompile
    #[arg(long, value_name = "N", help_heading = "Passes")]
    pub fuel: Option<u64>,
    /// Memory that one entry point may take, in MiB (256 by default)
    #[arg(long, value_name = "MIB", help_heading = "Passes")]
    pub memory: Option<u32>,
    /// Steps of work that one entry point may take, in millions (1073 by default)
    #[arg(long, value_name = "MILLIONS", help_heading = "Passes")]
    pub steps: Option<u32>,
    /// Check the IR after every pass
    #[arg(long, help_heading = "Passes")]
    pub verify_each: bool,
}

/// How messages look.
#[derive(Clone, Debug, Args)]
pub struct MessageArgs {
    /// How messages look on stderr
    #[arg(
        long,
        value_name = "FORM",
        default_value = "human",
        help_heading = "Messages",
        overrides_with = "diagnostics"
    )]
    pub diagnostics: Form,
    /// Colour. `auto` depends on the terminal and on NO_COLOR
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Messages",
        overrides_with = "color"
    )]
    pub color: When,
}

/// Which entry points.
#[derive(Clone, Debug, Args)]
pub struct EntryArgs {
    /// Entry point [default: all]
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub entry: Option<String>,
    /// Stage [default: all]
    #[arg(long, value_name = "STAGE", help_heading = "Input")]
    pub stage: Option<StageArg>,
}

/// `gpucc [OPTIONS] <INPUT>`.
#[derive(Clone, Debug, Args)]
pub struct CompileArgs {
    /// Shader: .wgsl, .spv, .vert, .geom, .frag, .comp, .glsl or .ir. `-` is stdin and requires --lang
    #[arg(value_name = "INPUT", num_args = 0..)]
    pub input: Vec<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub entry: EntryArgs,
    #[command(flatten)]
    pub code: CodeArgs,
    #[command(flatten)]
    pub messages: MessageArgs,
    /// Form of the output, repeatable: asm (default), bin, hex, json, ir, mach, elf, html, cfg (the IR's
    /// graph) or cfg=mach (the machine code's graph). pre is GLSL behind the preprocessor
    #[arg(long, value_name = "KIND[=PATH]", help_heading = "Output")]
    pub emit: Vec<String>,
    /// Output path. `-` is stdout
    #[arg(short = 'o', value_name = "PATH", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Compile a vertex and a fragment entry point as a pair. Outputs that the fragment stage does not
    /// read are removed. The names are required where a stage has several entry points
    #[arg(long, value_name = "VS,FS", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Input")]
    pub link: Option<String>,
    /// Verify the bytes on N inputs (8 when absent) before anything is written
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "8", help_heading = "Output", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub verify: Option<u32>,
    /// Write the pipeline state that was inferred
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub write_pipeline: Option<PathBuf>,
    /// Write a make rule that lists the inputs of each output
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub depfile: Option<PathBuf>,
    /// Write the entry points that compile, even if others fail
    #[arg(long, help_heading = "Output")]
    pub keep_going: bool,
    /// Number of entry points compiled at once
    #[arg(long, value_name = "N", help_heading = "Output", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Print the IR after a pass, or after every pass
    #[arg(long, value_name = "PASS|all", help_heading = "Passes")]
    pub dump_after: Vec<String>,
    /// List the passes in their order
    #[arg(long, help_heading = "Passes")]
    pub passes: bool,
    /// Print the time of each pass on stderr
    #[arg(long, help_heading = "Messages")]
    pub time_passes: bool,
    /// Print a table of figures on stderr
    #[arg(long, help_heading = "Messages")]
    pub stats: bool,
}

/// `gpucc asm`.
#[derive(Debug, Args)]
pub struct AsmArgs {
    /// Assembly text. `-` is stdin [default: stdin]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Write hexadecimal tokens instead of raw bytes
    #[arg(long)]
    pub hex: bool,
    /// Write hexadecimal byte pairs in memory order instead of raw bytes
    #[arg(long, conflicts_with = "hex")]
    pub bytes: bool,
    /// Read each input line as one unit. Requires --hex or --bytes
    #[arg(long)]
    pub lines: bool,
    /// Unit: program (default), cf, alu, alu-slot or fetch
    #[arg(long, value_name = "UNIT")]
    pub format: Option<String>,
    /// Output path. `-` is stdout [default: stdout]
    #[arg(short = 'o', value_name = "PATH")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// `gpucc disasm`.
#[derive(Debug, Args)]
pub struct DisasmArgs {
    /// Machine code. `-` is stdin [default: stdin]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
    /// The input is hexadecimal tokens
    #[arg(long)]
    pub hex: bool,
    /// The input is hexadecimal byte pairs in memory order
    #[arg(long, conflicts_with = "hex")]
    pub bytes: bool,
    /// Read each input line as one unit. Requires --hex or --bytes
    #[arg(long)]
    pub lines: bool,
    /// Unit: program (default), cf, alu, alu-slot or fetch
    #[arg(long, value_name = "UNIT")]
    pub format: Option<String>,
    /// Print figures instead of the text: live registers and cycles, computed from the bytes alone
    #[arg(long, conflicts_with_all = ["lines", "format"])]
    pub stats: bool,
    /// Output path. `-` is stdout [default: stdout]
    #[arg(short = 'o', value_name = "PATH")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// `gpucc run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Shader with a compute entry point
    pub file: PathBuf,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    /// Entry point, where there are several
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub entry: Option<String>,
    #[command(flatten)]
    pub code: CodeArgs,
    /// Workgroups to run: X, X,Y or X,Y,Z
    #[arg(long, value_name = "X[,Y[,Z]]", help_heading = "Run")]
    pub groups: Groups,
    /// Bind data: `G.B=f32:1,2`. Other sources are u32:, i32:, f16:, hex:, zeros:N, file:PATH, image:,
    /// texture: and sampler:. `immediate=` sets the immediates
    #[arg(long, value_name = "G.B=SOURCE", help_heading = "Run")]
    pub set: Vec<String>,
    /// Print a buffer after the run as f32, f16, u32, i32 or hex, or write its bytes to PATH
    #[arg(long, value_name = "G.B[:TYPE][=PATH]", help_heading = "Run", required = true)]
    pub dump: Vec<String>,
    /// Steps that the run may take. A step is an instruction of a wavefront (r600, r700: 24,000,000),
    /// a warp (valhall: 2,000,000), a thread (gen4, g45: 20,000,000), a group of a task (rogue:
    /// 4,000,000) or an instruction of 64 invocations (interp: 6,000,000)
    #[arg(long, value_name = "N", help_heading = "Run", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// Print executed instructions with their values on stderr
    #[arg(long, help_heading = "Run")]
    pub trace: bool,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// `gpucc render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Shader with a vertex and a fragment entry point
    pub file: PathBuf,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub code: CodeArgs,
    /// Vertex entry point, where there are several
    #[arg(long, value_name = "E", help_heading = "Draw")]
    pub vs: Option<String>,
    /// Geometry entry point between the two; none when absent
    #[arg(long, value_name = "E", help_heading = "Draw")]
    pub gs: Option<String>,
    /// Fragment entry point, where there are several
    #[arg(long, value_name = "E", help_heading = "Draw")]
    pub fs: Option<String>,
    /// Size of the picture
    #[arg(long, value_name = "WxH", help_heading = "Draw")]
    pub size: Size,
    /// Vertices and instances
    #[arg(long, value_name = "VERTICES[,INSTANCES]", help_heading = "Draw")]
    pub draw: Draw,
    /// How vertices make primitives
    #[arg(long, value_name = "T", default_value = "triangle-list", help_heading = "Draw")]
    pub topology: TopologyArg,
    /// Bind data, as in `gpucc run`
    #[arg(long, value_name = "G.B=SOURCE", help_heading = "Draw")]
    pub set: Vec<String>,
    /// Vertex buffer: its data and the bytes from one element to the next
    #[arg(long, value_name = "SLOT=SOURCE:STRIDE[:instance]", help_heading = "Draw")]
    pub vertex: Vec<String>,
    /// Place of an attribute in a vertex buffer, and its WebGPU format
    #[arg(long, value_name = "LOCATION=SLOT:OFFSET:FORMAT", help_heading = "Draw")]
    pub attribute: Vec<String>,
    /// Colour of the background
    #[arg(long, value_name = "R,G,B,A", default_value = "0,0,0,1", help_heading = "Draw")]
    pub clear: Color,
    /// Steps that each batch of vertices or pixels may take, as in `gpucc run`
    #[arg(long, value_name = "N", help_heading = "Draw", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// Keep only the nearest pixel
    #[arg(long, help_heading = "Draw")]
    pub depth: bool,
    /// Write the texels of a colour target in their memory format, row by row from the upper left
    #[arg(long, value_name = "TARGET=PATH", help_heading = "Draw")]
    pub dump: Vec<String>,
    /// Picture of target 0 to write (PNG)
    #[arg(short = 'o', value_name = "out.png", help_heading = "Draw")]
    pub output: PathBuf,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// `gpucc verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
`--target all` proves the shader on every machine that is built, and on the interpreter.

Inputs hold:
  everyday values, boundaries, infinities, NaNs and negative zeros;
  indices at the ends of arrays and beyond them;
  in two of eight, runtime arrays of 0 to 3 elements, and buffers that end within an element;
  in four of eight, samplers whose axes wrap differently.

Exit code 5 is a mismatch, or no proof. A run is no proof if it compared:
  fewer than half of the inputs;
  fewer than 25 % of the words that the interpreter wrote, or none.
Words are storage words, stored texels, outputs and discard bits.")]
pub struct VerifyArgs {
    /// Shader
    pub file: PathBuf,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub entry: EntryArgs,
    #[command(flatten)]
    pub code: CodeArgs,
    /// Inputs to try
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = "Proof", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub inputs: u32,
    /// Seed of the inputs
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Proof")]
    pub seed: u64,
    /// Run each input N more times in random orders of waves and messages (4 when absent). Run it N more
    /// times with errors of approximated functions
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_value_t = 0, default_missing_value = "4", help_heading = "Proof", value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub adversarial: u32,
    /// Steps that the proof of an entry point may take, of interpreter and machine together
    #[arg(long, value_name = "N", default_value_t = gpucc::verify::STEPS, help_heading = "Proof", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: u64,
    /// Print JSON, an object for each proof
    #[arg(long, help_heading = "Messages")]
    pub json: bool,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// `gpucc batch`.
#[derive(Debug, Args)]
pub struct BatchArgs {
    /// Shaders, folders of shaders, and lists of paths (.txt)
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub entry: EntryArgs,
    #[command(flatten)]
    pub code: CodeArgs,
    /// Folder for the outputs
    #[arg(
        short = 'o',
        value_name = "DIR",
        help_heading = "Output",
        required_unless_present = "stats"
    )]
    pub output: Option<PathBuf>,
    /// Form of the output, repeatable: asm (default), bin, hex, json, ir, mach, elf, html, cfg (the IR's
    /// graph) or cfg=mach (the machine code's graph). pre is GLSL behind the preprocessor
    #[arg(long, value_name = "KIND", help_heading = "Output", requires = "output")]
    pub emit: Vec<String>,
    /// Print the figures of every entry point on stdout, and the summary on stderr
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "table", help_heading = "Output")]
    pub stats: Option<StatsForm>,
    /// Print the figures as JSON, an object a line. `gpucc report` reads them
    #[arg(long, help_heading = "Output", requires = "stats")]
    pub json: bool,
    /// Number of files compiled at once [default: the number of processors]
    #[arg(long, value_name = "N", help_heading = "Output", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Take results from a cache and put new ones into it. It is a folder, or http://HOST/PATH of a
    /// server with GET and PUT
    #[arg(long, value_name = "DIR|URL", help_heading = "Output")]
    pub cache: Option<String>,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// `gpucc compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Shader
    pub file: PathBuf,
    /// Machines to compare. A chip follows a colon: r700:rv730 [default: all]
    #[arg(long, value_name = "a,b,...", help_heading = "Target")]
    pub targets: Option<String>,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub entry: EntryArgs,
    #[command(flatten)]
    pub code: CodeArgs,
    /// Print JSON, an object for each entry point on each machine
    #[arg(long, help_heading = "Messages")]
    pub json: bool,
    /// Write the explorer as well, a page with the machines beside each other
    #[arg(long, value_name = "PATH", help_heading = "Messages")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// `gpucc report`.
#[derive(Debug, Args)]
#[command(after_help = "\
A run is one of these:
  a folder of reports, made by `gpucc batch --emit json -o DIR`;
  a file that `gpucc batch --stats --json` printed.
Entry points are paired by file, name, stage and target.

Exit code 5 is a figure that is worse than --threshold allows: its geometric mean, or one that
was 0 everywhere. An entry point that is missing after is one, too.")]
pub struct ReportArgs {
    /// The run before
    pub before: PathBuf,
    /// The run after
    pub after: PathBuf,
    /// Figures to compare, separated by commas [default: all except compile_microseconds]
    #[arg(long, value_name = "NAME,...")]
    pub metric: Vec<String>,
    /// Fail if a figure got worse by more than PERCENT, or an entry point is missing
    #[arg(long, value_name = "PERCENT")]
    pub threshold: Option<f64>,
    /// Number of entry points to name in each direction, those that changed most
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub names: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// `gpucc completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell
    pub shell: clap_complete::Shell,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// `gpucc man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder for the pages, one for each command. When absent, the page of gpucc is printed on stdout
    #[arg(short = 'o', value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// Form of figures.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsForm {
    Table,
    Csv,
}

/// `gpucc targets`.
#[derive(Debug, Args)]
pub struct TargetsArgs {
    /// Targets to list [default: all]
    #[arg(value_name = "TARGET")]
    pub names: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// Source language.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Lang {
    Wgsl,
    Spirv,
    Glsl,
    Ir,
}

/// Stage.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum StageArg {
    Vertex,
    Geometry,
    Fragment,
    Compute,
}

impl From<StageArg> for gpucc::Stage {
    fn from(stage: StageArg) -> Self {
        match stage {
            StageArg::Vertex => gpucc::Stage::Vertex,
            StageArg::Geometry => gpucc::Stage::Geometry,
            StageArg::Fragment => gpucc::Stage::Fragment,
            StageArg::Compute => gpucc::Stage::Compute,
        }
    }
}

/// Effort.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Opt {
    #[value(name = "0")]
    None,
    #[value(name = "1")]
    Some,
    #[value(name = "2")]
    Full,
    Max,
}

/// Out of bounds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Robust {
    Restrict,
    Zero,
    Off,
}

/// What code may rest on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Evidence {
    Proven,
    Manual,
    Any,
}

/// On or off.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// Form of messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    Human,
    Short,
    Json,
}

/// Colour.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// Primitives.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum TopologyArg {
    TriangleList,
    TriangleStrip,
    LineList,
    LineStrip,
    PointList,
    LineListAdjacency,
    LineStripAdjacency,
    TriangleListAdjacency,
    TriangleStripAdjacency,
}

/// `X[,Y[,Z]]`.
#[derive(Copy, Clone, Debug)]
pub struct Groups(pub [u32; 3]);

impl FromStr for Groups {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut groups = [1; 3];
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err("at most three numbers: X,Y,Z".into());
        }
        for (slot, part) in groups.iter_mut().zip(parts) {
            *slot = number(part, 65_535)?;
        }
        Ok(Groups(groups))
    }
}

fn number(text: &str, most: u32) -> Result<u32, String> {
    match text.trim().parse::<u32>() {
        Ok(n) if n <= most => Ok(n),
        Ok(n) => Err(format!("{n} is too many: at most {most}")),
        Err(_) => Err(format!("`{text}` is not a whole number")),
    }
}

/// `WxH`.
#[derive(Copy, Clone, Debug)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (w, h) = text.split_once('x').ok_or("write it as WIDTHxHEIGHT")?;
        let (width, height) = (number(w, 8192)?, number(h, 8192)?);
        if width == 0 || height == 0 {
            return Err("a picture has at least one pixel".into());
        }
        Ok(Size { width, height })
    }
}

/// `VERTICES[,INSTANCES]`.
#[derive(Copy, Clone, Debug)]
pub struct Draw {
    pub vertices: u32,
    pub instances: u32,
}

impl FromStr for Draw {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (vertices, instances) = match text.split_once(',') {
            Some((v, i)) => (number(v, 1 << 24)?, number(i, 1 << 20)?),
            None => (number(text, 1 << 24)?, 1),
        };
        Ok(Draw { vertices, instances })
    }
}

/// `r,g,b,a`.
#[derive(Copy, Clone, Debug)]
pub struct Color(pub [f32; 4]);

impl FromStr for Color {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<f32> = text
            .split(',')
            .map(|part| part.trim().parse().map_err(|_| format!("`{part}` is not a number")))
            .collect::<Result<_, _>>()?;
        Ok(Color(parts.try_into().map_err(|_| "four numbers are needed: r,g,b,a".to_owned())?))
    }
}
