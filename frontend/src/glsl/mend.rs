//! What naga's reader of GLSL leaves otherwise than its validator and the language want it.

mod uses;

use naga::{
    AddressSpace, Arena, Expression, GlobalVariable, Handle, SampleLevel, ShaderStage, Statement,
    TypeInner,
};

/// Makes arrays of bindings of arrays of textures and samplers, and loads parts where the reader loads the whole.
pub fn mend(module: &mut naga::Module) {
    binding_arrays(module);
    let derives = |entry: &naga::EntryPoint| entry.stage == ShaderStage::Fragment;
    let derives = module.entry_points.iter().any(derives);
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    let entries = module.entry_points.iter_mut().map(|entry| &mut entry.function);
    for function in functions.chain(entries) {
        handle_loads(function, &module.global_variables);
        part_loads(function);
        if !derives {
            base_levels(function);
        }
    }
}

/// Where there are no derivatives a sample without a level is one of the base level.
fn base_levels(function: &mut naga::Function) {
    for (_, expression) in function.expressions.iter_mut() {
        if let Expression::ImageSample { level, gather, .. } = expression
            && *level == SampleLevel::Auto
            && gather.is_none()
        {
            *level = SampleLevel::Zero;
        }
    }
}

/// An array of textures or samplers is one binding for each element.
fn binding_arrays(module: &mut naga::Module) {
    let opaque =
        |inner: &TypeInner| matches!(inner, TypeInner::Image { .. } | TypeInner::Sampler { .. });
    let arrays: Vec<_> = module
        .types
        .iter()
        .filter_map(|(handle, ty)| match ty.inner {
            TypeInner::Array { base, size, .. } if opaque(&module.types[base].inner) => {
                Some((handle, base, size))
            }
            _ => None,
        })
        .collect();
    for (handle, base, size) in arrays {
        let ty = naga::Type { name: None, inner: TypeInner::BindingArray { base, size } };
        module.types.replace(handle, ty);
    }
    for (_, variable) in module.global_variables.iter_mut() {
        // The reader takes what is no texture itself for a block.
        if let TypeInner::BindingArray { base, .. } = module.types[variable.ty].inner
            && opaque(&module.types[base].inner)
            && variable.binding.is_some()
        {
            variable.space = AddressSpace::Handle;
        }
    }
}

/// An element of an array of textures is a texture and not the address of one.
fn handle_loads(function: &mut naga::Function, globals: &Arena<GlobalVariable>) {
    let handles: Vec<Handle<Expression>> =
        function.expressions.iter().map(|(handle, _)| handle).collect();
    for handle in handles {
        let Expression::Load { pointer } = function.expressions[handle] else {
            continue;
        };
        let element = function.expressions[pointer].clone();
        let (Expression::AccessIndex { base, .. } | Expression::Access { base, .. }) = element
        else {
            continue;
        };
        if let Expression::GlobalVariable(global) = function.expressions[base]
            && globals[global].space == AddressSpace::Handle
        {
            function.expressions[handle] = element;
        }
    }
}

/// `(*p).member` read as a part of the whole value becomes a load of the member alone, where whole and
/// part are evaluated together: what holds a runtime array cannot be loaded, and an atomic function wants to
/// know its word.
fn part_loads(function: &mut naga::Function) {
    let Some(uses) = uses::count(function) else {
        return;
    };
    let mut together = vec![0u32; function.expressions.len()];
    let mut number = 0;
    emitted(&function.body, &mut together, &mut number);
    let handles: Vec<Handle<Expression>> =
        function.expressions.iter().map(|(handle, _)| handle).collect();
    for &part in &handles {
        let (base, pointer) = match function.expressions[part] {
            Expression::AccessIndex { base, .. } | Expression::Access { base, .. } => {
                match function.expressions[base] {
                    Expression::Load { pointer } => (base, pointer),
                    _ => continue,
                }
            }
            _ => continue,
        };
        let (own, whole) = (together[part.index()], together[base.index()]);
        if uses[base.index()] != 1 || own != whole || own == 0 || !is_pointer(function, pointer) {
            continue;
        }
        let access = match function.expressions[part] {
            Expression::AccessIndex { index, .. } => {
                Expression::AccessIndex { base: pointer, index }
            }
            Expression::Access { index, .. } if index < base => {
                Expression::Access { base: pointer, index }
            }
            _ => continue,
        };
        function.expressions[base] = access;
        function.expressions[part] = Expression::Load { pointer: base };
    }
    // `rest.length()` asks where an array is, not what is in it.
    let mut addresses = vec![0u32; function.expressions.len()];
    for (_, expression) in function.expressions.iter() {
        if let Expression::ArrayLength(array) = expression {
            addresses[array.index()] += 1;
        }
    }
    for &whole in &handles {
        if let Expression::Load { pointer } = function.expressions[whole]
            && uses[whole.index()] == addresses[whole.index()]
            && let access @ (Expression::Access { .. } | Expression::AccessIndex { .. }) =
                &function.expressions[pointer]
        {
            function.expressions[whole] = access.clone();
        }
    }
}

/// True for pointers to variables in memory, of which a part can be pointed to.
fn is_pointer(function: &naga::Function, mut pointer: Handle<Expression>) -> bool {
    loop {
        pointer = match function.expressions[pointer] {
            Expression::AccessIndex { base, .. } | Expression::Access { base, .. } => base,
            Expression::GlobalVariable(_)
            | Expression::LocalVariable(_)
            | Expression::FunctionArgument(_) => return true,
            _ => return false,
        };
    }
}

/// Numbers the ranges of expressions that are evaluated together.
fn emitted(block: &naga::Block, together: &mut [u32], number: &mut u32) {
    for statement in block {
        match statement {
            Statement::Emit(range) => {
                *number += 1;
                for handle in range.clone() {
                    together[handle.index()] = *number;
                }
            }
            Statement::Block(inner) => emitted(inner, together, number),
            Statement::If { accept, reject, .. } => {
                emitted(accept, together, number);
                emitted(reject, together, number);
            }
            Statement::Switch { cases, .. } => {
                for case in cases {
                    emitted(&case.body, together, number);
                }
            }
            Statement::Loop { body, continuing, .. } => {
                emitted(body, together, number);
                emitted(continuing, together, number);
            }
            _ => {}
        }
    }
}
