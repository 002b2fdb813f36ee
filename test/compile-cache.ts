import { join } from 'node:path'

/**
 * Where processes keep what they have compiled, so that the next one starts in half the time. One file for each module,
 * written over when that changes.
 */
export const COMPILE_CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'grantor-compile-cache')
