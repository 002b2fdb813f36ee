import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { describeFiles } from '../../release/contents.ts'
import { NOTES, signerLine } from '../../release/folder.ts'
import { faultsOfSigners, signTag } from '../../release/tag.ts'
import { temporaryFolder } from '../support/server.ts'

/** The step of the workflow that decides whether files are published: its own text runs here, on tags that the release's own code signs. */

const root = temporaryFolder({ after: (end: unknown): void => after(end as () => unknown) })
const [checkout, built] = [join(root, 'checkout'), join(root, 'built')]
const git = (...words: readonly string[]): string =>
  execFileSync('git', words, { cwd: checkout, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** Makes a key, and returns it with its line of allowed signers. */
function makeKey(name: string): { readonly key: string; readonly signers: string } {
  const [key, signers] = [join(root, name), join(root, `${name}.signers`)]
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', key])
  writeFileSync(signers, signerLine(readFileSync(`${key}.pub`, 'utf8')))
  return { key, signers }
}

/** Commits a file of allowed signers, and tags the commit with the notes of the files. */
function release(version: string, { key, signers }: ReturnType<typeof makeKey>): void {
  mkdirSync(join(checkout, 'release'), { recursive: true })
  cpSync(signers, join(checkout, 'release/allowed_signers'))
  git('add', '--all')
  git('commit', '--message', version)
  signTag(checkout, { version, notes: join(root, NOTES), key, signers })
}

const [owner, other] = [makeKey('owner'), makeKey('other')]
mkdirSync(checkout)
git('init', '--quiet')
git('config', 'user.name', 'release')
git('config', 'user.email', 'release@example.com')
git('remote', 'add', 'origin', checkout)
for (const arch of ['x64', 'arm64']) mkdirSync(join(built, arch), { recursive: true })
const made = join(root, 'made')
mkdirSync(made)
for (const name of ['grantor-1.2.3.cdx.json', 'grantor-1.2.3.tgz', 'grantor-linux-arm64', 'grantor-linux-x64']) {
  writeFileSync(join(made, name), `The content of ${name}.\n`)
  for (const arch of ['x64', 'arm64'])
    if (!name.startsWith('grantor-linux-') || name.endsWith(arch)) cpSync(join(made, name), join(built, arch, name))
}
const origins = {
  version: '1.2.3',
  commit: '',
  lockfile: '',
  node: { version: '', digest: '' },
  npm: '',
  run: undefined,
}
describeFiles(made, origins, '### Added\n- A thing.')
cpSync(join(made, NOTES), join(root, NOTES))
release('1.2.3', owner)

const { jobs } = parse(readFileSync('.github/workflows/release.yml', 'utf8')) as {
  readonly jobs: { readonly compare: { readonly steps: readonly { readonly run?: string }[] } }
}
const STEP = jobs.compare.steps.map(({ run }) => run ?? '').join('\n')

interface Run {
  readonly tag?: string
  readonly signers?: string
  readonly commit?: string
  /** Changes the files that were built. */
  readonly change?: (files: string) => void
}

/** Runs the step on a copy of what was built. Returns the last line that it printed, or nothing when it succeeds. */
function compare({ tag = 'v1.2.3', signers = readFileSync(owner.signers, 'utf8'), commit, change }: Run = {}): string {
  const temporary = join(root, 'temporary')
  rmSync(temporary, { recursive: true, force: true })
  cpSync(built, join(temporary, 'files'), { recursive: true })
  change?.(join(temporary, 'files'))
  const env = {
    PATH: process.env['PATH'],
    RUNNER_TEMP: temporary,
    GITHUB_REF_NAME: tag,
    GITHUB_SHA: commit ?? git('rev-parse', `${tag}^{commit}`),
    SIGNERS: signers,
  }
  git('checkout', '--quiet', tag)
  const { status, stdout, stderr } = spawnSync('bash', ['-c', STEP], { cwd: checkout, encoding: 'utf8', env })
  return status === 0 ? '' : (`${stderr}${stdout}`.trim().split('\n').at(-1) ?? '')
}

test('the files that the owner of the key signed are published', () => {
  assert.equal(compare(), '')
  assert.equal(compare({ commit: git('rev-parse', 'v1.2.3') }), '')
})

test('a tag is refused without the key in the environment, and when its own commit brings the key that signed it', () => {
  assert.equal(compare({ signers: '' }), 'The environment has no variable RELEASE_SIGNERS.')
  assert.notEqual(compare({ signers: '\n' }), '')
  assert.notEqual(compare({ signers: readFileSync(other.signers, 'utf8') }), '')
  assert.notEqual(compare({ signers: readFileSync(owner.signers, 'utf8').replace(',git', '') }), '')
  release('1.2.4', other)
  assert.equal(compare({ tag: 'v1.2.4', signers: readFileSync(other.signers, 'utf8') }), 'Other files were made.')
  assert.match(compare({ tag: 'v1.2.4' }), /No principal matched/)
})

test('a tag is refused under another name, on another commit than was built, and without a signature', () => {
  git('update-ref', 'refs/tags/v1.2.5', git('rev-parse', 'refs/tags/v1.2.3'))
  assert.equal(compare({ tag: 'v1.2.5' }), 'The tag was signed with another name.')
  git('commit', '--allow-empty', '--message', 'later')
  assert.equal(compare({ commit: git('rev-parse', 'HEAD') }), 'The tag was moved.')
  git('tag', 'v1.2.6')
  assert.match(compare({ tag: 'v1.2.6' }), /cannot verify a non-tag object/)
})

test('each file must be there, no other one, and each have the digest that the tag signs for its name', () => {
  for (const file of ['x64/grantor-1.2.3.tgz', 'arm64/grantor-1.2.3.cdx.json', 'arm64/grantor-linux-arm64']) {
    assert.equal(compare({ change: (files) => writeFileSync(join(files, file), 'tampered') }), `${file} differs.`)
    assert.equal(compare({ change: (files) => rmSync(join(files, file)) }), 'Other files were made.')
  }
  assert.equal(
    compare({ change: (files) => rmSync(join(files, 'arm64'), { recursive: true }) }),
    'Other files were made.',
  )
  for (const added of ['x64/grantor-0.0.0.tgz', 'x64/SHA256SUMS.x64', 'x64/.npmrc', 'other'])
    assert.equal(compare({ change: (files) => writeFileSync(join(files, added), '') }), 'Other files were made.')
  const swapped = compare({
    change: (files) => {
      renameSync(join(files, 'x64/grantor-1.2.3.tgz'), join(files, 'kept'))
      renameSync(join(files, 'x64/grantor-linux-x64'), join(files, 'x64/grantor-1.2.3.tgz'))
      renameSync(join(files, 'kept'), join(files, 'x64/grantor-linux-x64'))
    },
  })
  assert.equal(swapped, 'x64/grantor-1.2.3.tgz differs.')
})

test('a release is refused early when the line of its key does not allow tags', () => {
  assert.deepEqual(faultsOfSigners(owner.signers), [])
  const narrow = join(root, 'narrow.signers')
  writeFileSync(narrow, readFileSync(owner.signers, 'utf8').replace(',git', ''))
  assert.match(faultsOfSigners(narrow).join(' '), /must say namespaces="grantor-release,git"/)
  const again = { version: '1.2.7', notes: join(root, NOTES), key: owner.key, signers: narrow }
  assert.throws(() => signTag(checkout, again), /not permitted for use in signature namespace/)
})
