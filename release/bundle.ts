import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Plugin } from 'esbuild'

/** The sources of threads below `src/`, each with the module that has its address and the name that the module exports. */
export const THREADS = [
  ['store/sqlite/file/checkpoint-worker.js', 'sqlite/file/checkpoint-thread.ts', 'CHECKPOINT_THREAD'],
  ['passkeys/verifier-worker.js', 'passkeys/verifier-thread.ts', 'VERIFIER_THREAD'],
  ['passwords/bcrypt-worker.js', 'passwords/bcrypt-thread.ts', 'BCRYPT_THREAD'],
  ['keys/signer-worker.js', 'keys/signer-thread.ts', 'SIGNER_THREAD'],
] as const
/** What is started or imported: the command line, the library, and the threads. */
const ENTRIES = ['cli/main.ts', 'library/grantor.ts', ...THREADS.map(([source]) => source)]
/** What the sources read beside them. */
const READ_BESIDE = ['store/migrations/*.sql', 'passwords/*.txt'] as const
const SOURCES = 'src'

/**
 * Writes the sources as JavaScript into a folder: the entries by their names, and what they share in `chunks/`. A start finds, reads and links
 * a third as many files as the sources are. Packages stay packages, so that npm updates them and tells their licences. A file that has
 * its contents already is not written, so that V8's code of it is kept. The folder must be in one that has `package.json`. Returns the paths of
 * the files of JavaScript.
 *
 * Comments stay only as `// src/…`, where a source begins: `nameSources` of src/files/stack.ts reads them.
 */
export async function bundleSources(folder: string): Promise<readonly string[]> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: ENTRIES.map((entry) => join(SOURCES, entry)),
    outdir: folder,
    outbase: SOURCES,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node26',
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
    plugins: [beside],
  })
  for (const { path, contents } of outputFiles) write(path, contents)
  for (const file of globSync(READ_BESIDE, { cwd: SOURCES }))
    write(join(folder, file), readFileSync(join(SOURCES, file)))
  return outputFiles.map(({ path }) => path)
}

/**
 * Addresses of files beside a source, seen from where its code is then. That is one folder below the one of all, because no entry that has such code
 * is deeper than the chunks are.
 */
const beside: Plugin = {
  name: 'beside',
  setup(bundler) {
    bundler.onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes("new URL('./")) return undefined
      const folder = relative(resolve(SOURCES), dirname(path))
      return { contents: text.replaceAll("new URL('./", `new URL('../${folder}/`), loader: 'ts' }
    })
  },
}

function write(path: string, contents: Uint8Array): void {
  try {
    if (readFileSync(path).equals(contents)) return
  } catch {
    // It is not there yet.
    mkdirSync(dirname(path), { recursive: true })
  }
  writeFileSync(path, contents)
}
