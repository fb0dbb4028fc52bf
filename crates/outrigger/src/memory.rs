//! Returns the memory of large texts to the system.
//!
//! The allocator of the GNU C library returns large blocks at once when they are freed, but it
//! raises the size that counts as large to that of the largest block it has freed. After one
//! proposal of ten megabytes the texts of all later ones stay with the process: about 200 MB were
//! measured. A companion runs all day, so the size is fixed here.

/// Blocks of this size or more are returned as soon as they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 1 << 20;

/// Fixes the size of large blocks. To be called first, before any thread is started.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "there is no safe way to set an option of the C library's allocator"
)]
pub(crate) fn return_large_blocks() {
    // SAFETY: `mallopt` takes two integers and keeps no pointer. It is only unsafe to call while
    // another thread uses the allocator, and no other thread exists yet. It fails only for unknown
    // options; then nothing has changed, and the result need not be looked at.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

/// Other allocators do this by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn return_large_blocks() {}
