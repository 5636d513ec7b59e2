//! The register file as the allocator sees it: the split file of 32, then 64, then spills.
