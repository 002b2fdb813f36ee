import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Manifest } from './manifest.ts'

const SOURCES = 'prove/kit'
const FOLDER = 'dist/kit/package'
/** The program of the package. */
export const KIT_COMMAND = 'grantor-prove.js'

/** Makes the folder of the package `grantor-prove`, which judges any issuer: one program, beside jose alone. Returns the folder. */
export async function buildKit(folder = FOLDER): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { build } = await import('esbuild')
  await build({
    entryPoints: [join(SOURCES, 'cli.ts')],
    outfile: join(folder, KIT_COMMAND),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node22',
    legalComments: 'none',
    logLevel: 'warning',
  })
  for (const page of [join(SOURCES, 'README.md'), 'LICENSE']) copyFileSync(page, join(folder, basename(page)))
  const checkout = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(kitManifest(checkout), undefined, 2)}\n`)
  return folder
}

function kitManifest({ version, license, repository, dependencies }: Manifest): Manifest {
  return {
    name: 'grantor-prove',
    version,
    description: 'Judges an OAuth 2.0 authorization server: races, lost answers, kills, registration, tokens.',
    license,
    ...(repository === undefined ? {} : { repository }),
    type: 'module',
    bin: { 'grantor-prove': KIT_COMMAND },
    dependencies: { jose: (dependencies as Readonly<Record<string, string>>)['jose'] },
    engines: { node: '>=22' },
    files: [KIT_COMMAND],
  }
}
