/** The address of the thread's source. In the single executable file, release/single.ts replaces this module. */
export const CHECKPOINT_THREAD = new URL('./checkpoint-worker.js', import.meta.url)
