import { join } from 'node:path'

/**
 * The folder of compiled modules that test processes share, so that the next process starts in half the time. It has one file
 * for each module, which is overwritten when the module changes.
 */
export const COMPILE_CACHE = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'node_modules',
  '.cache',
  'grantor-compile-cache',
)
