import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { describeFiles } from '../../release/contents.ts'
import { faultsOfFolder, filesOf, sealFolder, signerLine } from '../../release/folder.ts'
import { differences, readStatement, type Origins } from '../../release/statement.ts'
import { temporaryFolder } from '../support/server.ts'

const ORIGINS: Origins = {
  version: '1.2.3',
  commit: '0123456789abcdef0123456789abcdef01234567',
  lockfile: 'a'.repeat(64),
  node: { version: '26.10.0', digest: 'b'.repeat(64) },
  npm: '11.0.0',
  run: undefined,
}
const STATEMENT = 'grantor-1.2.3.intoto.json'
const MADE = [
  'grantor-1.2.3.cdx.json',
  'grantor-1.2.3.tgz',
  'grantor-1.2.3.vex.cdx.json',
  'grantor-linux-arm64',
  'grantor-linux-x64',
]
const root = temporaryFolder({ after: (end: unknown): void => after(end as () => unknown) })

/** Makes a key, and the file of allowed signers that names it. */
function makeKey(name: string): { readonly key: string; readonly signers: string } {
  const [key, signers] = [join(root, name), join(root, `${name}.signers`)]
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', key])
  writeFileSync(signers, signerLine(readFileSync(`${key}.pub`, 'utf8')))
  return { key, signers }
}

const { key, signers } = makeKey('owner')
const released = join(root, 'released')
mkdirSync(released)
for (const name of MADE) writeFileSync(join(released, name), `The content of ${name}.\n`)
describeFiles(released, ORIGINS, '### Added\n- A thing ([docs/mcp.md](docs/mcp.md)).')
sealFolder(released, key)
const ALL = [...filesOf(released), 'SHA256SUMS', 'SHA256SUMS.sig']

/** A copy of the release, changed by a function. */
function faultsAfter(change: (folder: string) => void, allowed = signers): readonly string[] {
  const folder = join(root, 'copy')
  rmSync(folder, { recursive: true, force: true })
  cpSync(released, folder, { recursive: true })
  change(folder)
  return faultsOfFolder(folder, allowed)
}

test('the folder of a release has its files, a statement, notes, sums and a signature, and is accepted', () => {
  assert.deepEqual(ALL, ['NOTES.md', ...MADE.slice(0, 1), STATEMENT, ...MADE.slice(1), 'SHA256SUMS', 'SHA256SUMS.sig'])
  assert.deepEqual(
    faultsAfter(() => undefined),
    [],
  )
})

test('the notes of a release have the digest of each other file, and no link into a folder that it does not have', () => {
  const notes = readFileSync(join(released, 'NOTES.md'), 'utf8')
  const rows = [...notes.matchAll(/^\| (grantor\S+) \| `([0-9a-f]{64})` \|$/gm)].map(([, name, digest]) => [
    name,
    digest,
  ])
  const files = [...MADE, STATEMENT]
  assert.deepEqual(
    rows,
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(released, name)))
        .digest('hex'),
    ]),
  )
  assert.match(notes, /^- A thing \(docs\/mcp\.md\)\.$/m)
  assert.doesNotMatch(notes, /\]\(/)
})

for (const name of ALL) {
  test(`a release is refused after one byte of ${name} changed, and without the file`, () => {
    const length = readFileSync(join(released, name)).length
    // The last byte is the end of a line.
    for (const at of [0, Math.floor(length / 2), length - 2]) {
      const faults = faultsAfter((folder) => {
        const bytes = readFileSync(join(folder, name))
        bytes[at] = (bytes[at] ?? 0) ^ 1
        writeFileSync(join(folder, name), bytes)
      })
      assert.ok(faults.length > 0, `byte ${at}`)
      assert.match(faults.join(' '), new RegExp(name.startsWith('SHA256SUMS') ? 'is no signature of' : name))
    }
    assert.match(faultsAfter((folder) => rmSync(join(folder, name))).join(' '), new RegExp(`"${name}" is missing`))
  })
}

test('a release is refused with a further file, another name, another key, another purpose, or an expired key', () => {
  assert.deepEqual(
    faultsAfter((folder) => writeFileSync(join(folder, 'grantor-linux-riscv64'), '')),
    ['"grantor-linux-riscv64" is not in SHA256SUMS.'],
  )
  const [name = '', other = ''] = MADE
  const swapped = faultsAfter((folder) => {
    renameSync(join(folder, name), join(folder, 'kept'))
    renameSync(join(folder, other), join(folder, name))
    renameSync(join(folder, 'kept'), join(folder, other))
  })
  assert.deepEqual(
    swapped,
    [name, other].map((file) => `"${file}" is not the file that was signed.`),
  )
  const unchanged = (): void => undefined
  assert.match(faultsAfter(unchanged, makeKey('other').signers).join(' '), /is no signature of/)
  const line = readFileSync(signers, 'utf8')
  for (const replaced of [
    line.replace('grantor-release', 'git'),
    line.replace('namespaces', 'valid-before="20200101",namespaces'),
  ]) {
    writeFileSync(join(root, 'replaced'), replaced)
    assert.match(faultsAfter(unchanged, join(root, 'replaced')).join(' '), /is no signature of/)
  }
})

test('a release is refused with anything but regular files, and before one of them is read', () => {
  const [name = ''] = MADE
  for (const one of [name, 'SHA256SUMS', 'SHA256SUMS.sig', 'NOTES.md']) {
    const refused = [`"${one}" is no regular file.`]
    const replaced = (replace: (path: string) => void): readonly string[] =>
      faultsAfter((folder) => {
        rmSync(join(folder, one))
        replace(join(folder, one))
      })
    assert.deepEqual(
      replaced((path) => symlinkSync(join(released, one), path)),
      refused,
    )
    assert.deepEqual(replaced(mkdirSync), refused)
    // To read it would wait for a writer.
    assert.deepEqual(
      replaced((path) => execFileSync('mkfifo', [path])),
      refused,
    )
  }
})

test('a name reaches the terminal without codes that it obeys', () => {
  for (const [name, printed] of [
    ['a\u001B[2J\u001B[Hright', '"a\\u001b[2J\\u001b[Hright" is not in SHA256SUMS.'],
    ['a\u009B2Jright', '"a\\u009b2Jright" is not in SHA256SUMS.'],
    ['a\u202Egpj', '"a\\u202egpj" is not in SHA256SUMS.'],
    ['a\nright', '"a\\nright" is not in SHA256SUMS.'],
  ] as const)
    assert.deepEqual(
      faultsAfter((folder) => writeFileSync(join(folder, name), '')),
      [printed],
    )
})

test('in-toto Statement v1: a signed statement about another file is refused', () => {
  const faults = faultsAfter((folder) => {
    const path = join(folder, STATEMENT)
    const [digest] = /[0-9a-f]{64}/.exec(readFileSync(path, 'utf8')) ?? []
    writeFileSync(path, readFileSync(path, 'utf8').replace(digest ?? '', 'c'.repeat(64)))
    for (const name of ['SHA256SUMS', 'SHA256SUMS.sig']) rmSync(join(folder, name))
    sealFolder(folder, key)
  })
  assert.deepEqual(faults, [`The statement of provenance is about another "${MADE[0]}".`])
})

test('a checkout with another commit, lockfile, Node.js or npm says what differs before it makes the files again', () => {
  const statement = readStatement(join(released, STATEMENT))
  assert.deepEqual(differences(statement, ORIGINS), [])
  const others: readonly Partial<Origins>[] = [
    { commit: 'f'.repeat(40) },
    { lockfile: 'f'.repeat(64) },
    { node: { version: '26.10.0', digest: 'f'.repeat(64) } },
    { npm: '12.0.0' },
  ]
  for (const other of others) assert.equal(differences(statement, { ...ORIGINS, ...other }).length, 1)
})

test('"npm run verify" exits with 1 and says what is wrong, also without a public key', () => {
  const verify = (...words: readonly string[]) =>
    spawnSync(process.execPath, ['release/verify.ts', ...words], { encoding: 'utf8' })
  const right = verify(released, '--signers', signers, '--sums-only')
  assert.deepEqual([right.status, right.stderr], [0, ''])
  assert.match(
    right.stdout,
    /are right: 7 files of Grantor 1\.2\.3, commit 0123456789abcdef0123456789abcdef01234567\.\n$/,
  )
  for (const [words, said] of [
    [[released, '--signers', makeKey('third').signers], /^verify: Do not use these files\.\n {2}SHA256SUMS\.sig is no/],
    [[released, '--signers', join(root, 'none')], /^verify: There is no .*none, the public key of releases/],
    [[join(root, 'nothing'), '--signers', signers], /^verify: There is no folder/],
    [[], /^verify: npm run verify -- <folder/],
  ] as const) {
    const { status, stderr } = verify(...words)
    assert.equal(status, 1)
    assert.match(stderr, said)
  }
})
