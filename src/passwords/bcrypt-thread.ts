/** The address of the thread's source. In the single executable file, release/single.ts replaces this module. */
export const BCRYPT_THREAD = new URL('./bcrypt-worker.js', import.meta.url)
