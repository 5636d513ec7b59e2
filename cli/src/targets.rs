//! `gpucc targets`: what gpucc knows, for people and as JSON.

use super::args::TargetsArgs;
use super::files::Outputs;
use gpucc::{Failure, Target, TargetInfo};
use std::collections::BTreeMap;

/// Lists the targets.
pub fn run(args: &TargetsArgs) -> Result<(), Failure> {
    let mut targets = Vec::new();
    for name in &args.names {
        targets.push(super::named_target(name, None)?.0);
    }
    if args.names.is_empty() {
        targets.extend(Target::ALL);
    }
    let rows: Vec<TargetInfo> = targets.into_iter().map(TargetInfo::from).collect();
    let mut outputs = Outputs::default();
    if args.json {
        let text = serde_json::to_string_pretty(&rows).expect("plain data");
        outputs.print(&text);
        outputs.print("\n");
        return outputs.commit();
    }
    for row in &rows {
        outputs.print(&format!("{:<8} {}\n", row.target, row.machine));
        if !row.chips.is_empty() {
            outputs.print(&format!("         chips:   {}\n", row.chips.join(", ")));
        }
        match (row.supported, row.assembles) {
            (true, _) => {
                outputs.print(&format!("         stages:  {}\n", row.stages.join(", ")));
            }
            (false, true) => outputs
                .print("         shaders are not supported by gpucc yet; asm and disasm are\n"),
            (false, false) => outputs.print("         not supported by gpucc yet\n"),
        }
        if !row.limits.is_empty() {
            outputs.print(&format!("         limits:  {}\n", listed(&row.limits)));
        }
        for (chip, limits) in &row.chip_limits {
            outputs.print(&format!("         {:<8} {}\n", format!("{chip}:"), listed(limits)));
        }
        for (index, refusal) in row.refuses.iter().enumerate() {
            let head = if index == 0 { "refuses:" } else { "" };
            outputs
                .print(&format!("         {head:<8} {} ({})\n", refusal.feature, refusal.manual));
        }
    }
    outputs.commit()
}

fn listed(limits: &BTreeMap<String, u64>) -> String {
    let rows = limits.iter().map(|(name, value)| format!("{} {value}", name.replace('_', " ")));
    rows.collect::<Vec<_>>().join(", ")
}
