import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { billOf, describe, packPackage } from './build.ts'
import { exploitability, type Advisory } from './cyclonedx.ts'
import { digestOfFile, filesOf, NOTES } from './folder.ts'
import { originOf, type Manifest } from './manifest.ts'
import { publishedPage } from './pages.ts'
import { buildSingle } from './single.ts'
import { statementOf, type Origins } from './statement.ts'

/** Advisories about dependencies, and whether they concern Grantor. */
export function readAdvisories(): readonly Advisory[] {
  return JSON.parse(readFileSync('release/vex.json', 'utf8')) as readonly Advisory[]
}

/** What the files of a release depend on in this checkout. */
export function originsHere(): Origins {
  const { version } = readManifest()
  const { GITHUB_SERVER_URL: host, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = process.env
  return {
    version,
    commit: say('git', 'rev-parse', 'HEAD'),
    lockfile: digestOfFile('package-lock.json'),
    node: { version: process.versions.node, digest: digestOfFile(process.execPath) },
    npm: say('npm', '--version'),
    run: run === undefined ? undefined : `${host ?? ''}/${repository ?? ''}/actions/runs/${run}`,
  }
}

function readManifest(): Manifest {
  return JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
}

/**
 * Makes the files that do not depend on who makes the release: the package, its bill of materials, the advisories, and the single files of
 * these processors. `isAnyNode`: their Node.js need not be that of release/node.json.
 */
export async function buildFiles(
  folder: string,
  architectures: readonly ('x64' | 'arm64')[],
  isAnyNode: boolean,
): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packed = await packPackage()
  const bill = billOf(packed)
  const vex = bill.replace('.cdx.json', '.vex.cdx.json')
  writeFileSync(vex, exploitability(readAdvisories(), readFileSync(bill, 'utf8'), describe(packed)))
  const files = [packed, bill, vex]
  for (const arch of architectures) files.push(await buildSingle(arch, { isAnyNode }))
  for (const file of files) copyFileSync(file, join(folder, basename(file)))
}

/** Adds the statement of provenance and the notes to the folder. `changes`: the section of the version in CHANGELOG.md. */
export function describeFiles(folder: string, origins: Origins, changes: string): void {
  const digests = new Map(filesOf(folder).map((name) => [name, digestOfFile(join(folder, name))]))
  const statement = `grantor-${origins.version}.intoto.json`
  const about = statementOf(digests, origins)
  writeFileSync(join(folder, statement), `${JSON.stringify(about, undefined, 2)}\n`)
  const all = new Map([...digests, [statement, digestOfFile(join(folder, statement))]])
  // The folder has no pages to which a link could lead.
  const origin = originOf({ ...readManifest(), version: origins.version })
  writeFileSync(join(folder, NOTES), notesOf(all, origins, publishedPage('CHANGELOG.md', changes, [], origin)))
}

function notesOf(
  digests: ReadonlyMap<string, string>,
  { version, commit, node, npm }: Origins,
  changes: string,
): string {
  const rows = [...digests].map(([name, digest]) => `| ${name} | \`${digest}\` |\n`)
  return `# Grantor ${version}

${changes}

## Files

| File | SHA-256 |
|---|---|
${rows.join('')}
Made from the commit \`${commit}\` with Node.js ${node.version} and npm ${npm}. docs/verify.md says how to verify them, and how to make them again.
`
}

function say(command: string, ...words: readonly string[]): string {
  return execFileSync(command, words, { encoding: 'utf8' }).trim()
}
