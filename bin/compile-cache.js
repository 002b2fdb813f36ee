import { mkdirSync, statSync } from 'node:fs'
import module from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Among the packages: whoever may write there can change what runs anyway. */
const FOLDER = fileURLToPath(new URL('../node_modules/.cache/grantor-compile-cache', import.meta.url))
/** By then all is loaded that a server loads after its start. */
const KEEP_AFTER_MS = 5000

/**
 * Keeps what Node makes of the sources, without types and compiled, for the next start: that takes half of the time then, and
 * 27 MB less, because the compiler that strips types is not loaded. Node compares it with the source, its own version and the
 * user each time. Where nothing may be written all works the same, slower. NODE_COMPILE_CACHE names another folder.
 */
export function keepCompiled() {
  if (process.env.NODE_COMPILE_CACHE === undefined && !isOursAlone(FOLDER)) return
  module.enableCompileCache(FOLDER)
  // At its end a process keeps it by itself, unless it is killed.
  setTimeout(() => module.flushCompileCache(), KEEP_AFTER_MS).unref()
}

/** Makes the folder. What stands in it is run, so nobody else may write there. */
export function isOursAlone(folder) {
  try {
    mkdirSync(dirname(folder), { recursive: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
  } catch {
    return false
  }
}
