/** The address of the thread's source. In the single executable file, release/single.ts replaces this module. */
export const VERIFIER_THREAD = new URL('./verifier-worker.js', import.meta.url)
