import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** As git prints a commit by default, and a few more digits so that it remains unique. */
const COMMIT_DIGITS = 12

/**
 * The version of the package, and the commit of the checkout, or of the one that the package was made from: `0.1.0+3734b4c0a1b2` (build metadata of SemVer 2.0.0 §10). It is in
 * `/version`, the logs, the metrics and `--version`, so that an operator knows which code a node runs.
 */
export const VERSION = versionOf(readManifest(), findCommit(join(ROOT, '.git')))

/** package.json of the checkout, or of the published package. */
interface Manifest {
  readonly version: string
  /** The commit of a published package (release/manifest.ts). */
  readonly gitHead?: string
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** The optional packages, each with the oldest version that fits: `@opentelemetry/api@1.10.0`. */
export function optionalPackages(): readonly string[] {
  return Object.entries(readManifest().peerDependencies).map(([name, range]) => `${name}@${range.replace('^', '')}`)
}

function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
}

/** `checkedOut`: the commit of a checkout. */
export function versionOf(
  { version, gitHead }: Pick<Manifest, 'version' | 'gitHead'>,
  checkedOut: string | undefined,
): string {
  const commit = gitHead ?? checkedOut
  return commit === undefined ? version : `${version}+${commit.slice(0, COMMIT_DIGITS)}`
}

/** Reads the commit that is checked out (gitrepository-layout(5)); undefined outside of a checkout. */
export function findCommit(dotGit: string): string | undefined {
  // In a worktree, .git is a file that names the folder.
  const folder = resolve(dotGit, '..', /^gitdir: (.+)$/m.exec(readOptional(dotGit) ?? '')?.[1] ?? dotGit)
  const common = resolve(folder, readOptional(join(folder, 'commondir'))?.trim() ?? '.')
  const head = readOptional(join(folder, 'HEAD'))?.trim() ?? ''
  const [, ref] = /^ref: (refs\/.+)$/.exec(head) ?? []
  if (ref === undefined) return asCommit(head)
  const packed = readOptional(join(common, 'packed-refs')) ?? ''
  const line = packed.split('\n').find((text) => text.endsWith(` ${ref}`))
  return asCommit((readOptional(join(common, ref)) ?? line ?? '').trim().split(' ', 1)[0] ?? '')
}

function asCommit(text: string): string | undefined {
  return /^[0-9a-f]{40,64}$/.test(text) ? text : undefined
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
