import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DAILY } from '../prove/daily/list.ts'
import { listMigrations } from '../src/store/migrations.ts'
import { checkVersion, releaseChangelog } from './changelog.ts'
import { buildFiles, describeFiles, originsHere, readAdvisories } from './contents.ts'
import { unexplained } from './cyclonedx.ts'
import { fetchDigests, pinDigests } from './digests.ts'
import { faultsOfFolder, NOTES, sealFolder, signerLine } from './folder.ts'
import { originOf, type Manifest } from './manifest.ts'
import { changedMigrations, readReleased, writeReleased } from './migrations.ts'
import { faultsOfNode, readTools } from './node.ts'
import { newestRuns, staleProofs } from './proofs.ts'
import { faultsOfSigners, signTag } from './tag.ts'

/**
 * Makes a release (CONTRIBUTING.md): `npm run release -- <version> --key <file>`. Checks the checkout, runs the tests and the proof of the
 * package, pins the images, writes the version, the changelog, the digests of the migrations and the databases for the tests of later
 * releases, commits, makes and signs the folder of the release, verifies it, and tags `v<version>`. Publishes nothing. With `--rehearse` it
 * makes and verifies the folder from the checkout as it is, signs it with a key that it throws away, and says what a release would refuse.
 * With `--audit` it asks `npm audit` alone.
 */

const SIGNERS = 'release/allowed_signers'

function run(command: string, ...words: readonly string[]): string {
  return execFileSync(command, words, { encoding: 'utf8' }).trim()
}

function npm(...words: readonly string[]): void {
  execFileSync('npm', words, { stdio: 'inherit' })
}

/** Returns at once what refuses a release: what takes minutes comes later. */
function refusals(version: string, manifest: Manifest): readonly string[] {
  const isFirst = run('git', 'tag', '--list', 'v*') === ''
  const changes = run('git', 'status', '--porcelain')
  return [
    ...thrown(() => checkVersion(version, manifest.version, isFirst)),
    ...(changes === '' ? [] : [`Commit or remove these changes first:\n${changes}`]),
    ...(originOf(manifest) === undefined
      ? ['package.json names no repository, without which a registry accepts no provenance.']
      : []),
    ...(existsSync(SIGNERS)
      ? faultsOfSigners(SIGNERS)
      : [`There is no ${SIGNERS}, without which the signature cannot be verified.`]),
    ...strangeTools(),
    ...changedMigrations(readReleased(), listMigrations()),
    ...staleProofs(
      DAILY.map(({ name }) => name),
      newestRuns(),
      new Date().toISOString().slice(0, 10),
    ),
  ]
}

/** Node.js is in the single file, and npm in the bill of materials. .github/workflows/release.yml compares the digests with the makers'. */
function strangeTools(): readonly string[] {
  const { npm: known } = readTools()
  const version = run('npm', '--version')
  return [
    ...faultsOfNode(process.execPath),
    ...(known === version ? [] : [`npm is ${version}, and release/node.json has ${known}.`]),
  ]
}

/** What `npm audit` knows about what is published. It needs the registry. */
function audit(): readonly string[] {
  // It exits with 1 when it finds something.
  const answer = execFileSync('sh', ['-c', 'npm audit --json --omit=dev || true'], { encoding: 'utf8' })
  return unexplained(answer, readAdvisories()).map(
    (one) => `No row of release/vex.json says whether this affects: ${one}`,
  )
}

function thrown(check: () => void): readonly string[] {
  try {
    check()
    return []
  } catch (cause) {
    return [(cause as Error).message]
  }
}

function refuse(why: readonly string[]): void {
  if (why.length > 0) throw new Error(why.join('\n'))
}

/** Makes the folder of the release from the checkout, and verifies it. Returns its path. */
async function makeFolder(
  version: string,
  changes: string,
  { key, signers, architectures, isAnyNode }: Making,
): Promise<string> {
  const folder = `dist/grantor-${version}`
  await buildFiles(folder, architectures, isAnyNode)
  describeFiles(folder, originsHere(), changes)
  sealFolder(folder, key)
  refuse(faultsOfFolder(folder, signers))
  return folder
}

interface Making {
  readonly key: string
  readonly signers: string
  readonly architectures: readonly ('x64' | 'arm64')[]
  readonly isAnyNode: boolean
}

async function rehearse(version: string, manifest: Manifest, changes: string): Promise<void> {
  if (version !== manifest.version) throw new Error(`A rehearsal has the version of package.json, ${manifest.version}.`)
  for (const refusal of refusals(version, manifest)) console.log(`A release would be refused: ${refusal}`)
  const folder = mkdtempSync(join(tmpdir(), 'grantor-key-'))
  try {
    const key = join(folder, 'key')
    run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'rehearsal', '-f', key)
    const signers = 'dist/rehearsal_signers'
    mkdirSync('dist', { recursive: true })
    writeFileSync(signers, signerLine(readFileSync(`${key}.pub`, 'utf8')))
    const made = await makeFolder(version, changes, { key, signers, architectures: ['x64'], isAnyNode: true })
    console.log(`Made and verified ${made}, for x64 alone. Try: npm run verify -- ${made} --signers ${signers}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function release(version: string, manifest: Manifest, key: string): Promise<void> {
  const { text, notes } = releaseChangelog(
    readFileSync('CHANGELOG.md', 'utf8'),
    version,
    new Date().toISOString().slice(0, 10),
  )
  refuse([...refusals(version, manifest), ...audit()])
  npm('run', 'docs')
  refuse(run('git', 'status', '--porcelain') === '' ? [] : ['"npm run docs" changed pages. Commit them first.'])
  // A release needs them, and the tests take minutes.
  const digests = await fetchDigests()
  npm('test')
  npm('run', 'prove', 'long-tests')
  npm('run', 'prove', 'package')
  pinDigests(digests)
  writeFileSync('CHANGELOG.md', text)
  npm('version', '--no-git-tag-version', '--allow-same-version', version)
  writeReleased(listMigrations())
  npm('run', 'prove', 'upgrade', '--', '--write', version)
  run('git', 'add', '--all')
  run('git', 'commit', '--message', `chore(release): ${version}`)
  const making = { key, signers: SIGNERS, architectures: ['x64', 'arm64'], isAnyNode: false } as const
  const folder = await makeFolder(version, notes, making)
  signTag('.', { version, notes: join(folder, NOTES), key, signers: SIGNERS })
  console.log(`Made ${folder} and the tag v${version}. Publish with: git push --follow-tags`)
}

try {
  const { positionals, values } = parseArgs({
    options: {
      rehearse: { type: 'boolean', default: false },
      audit: { type: 'boolean', default: false },
      key: { type: 'string' },
    },
    allowPositionals: true,
  })
  const [version = ''] = positionals
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
  if (values.audit) {
    refuse(audit())
    console.log('npm audit finds nothing without a row in release/vex.json.')
  } else if (values.rehearse) {
    const { notes } = releaseChangelog(readFileSync('CHANGELOG.md', 'utf8'), version, '')
    await rehearse(version, manifest, notes)
  } else {
    if (values.key === undefined)
      throw new Error('Name the SSH key that signs: --key <file>. To try without: --rehearse')
    await release(version, manifest, values.key)
  }
} catch (cause) {
  console.error(`release: ${(cause as Error).message}`)
  process.exitCode = 1
}
