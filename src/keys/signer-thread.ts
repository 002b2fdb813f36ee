/** The address of the thread's source. In the single executable file, release/single.ts replaces this module. */
export const SIGNER_THREAD = new URL('./signer-worker.js', import.meta.url)
