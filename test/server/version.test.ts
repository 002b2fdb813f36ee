import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findCommit, VERSION, versionOf } from '../../src/server/version.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const OTHER = 'f'.repeat(40)

/** The files of each kind of checkout below one folder, and the commit that is checked out. */
const CHECKOUTS: readonly (readonly [
  kind: string,
  files: Readonly<Record<string, string>>,
  commit: string | undefined,
])[] = [
  ['a branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${COMMIT}\n` }, COMMIT],
  ['a detached HEAD', { '.git/HEAD': `${COMMIT}\n` }, COMMIT],
  [
    'a packed branch',
    {
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/packed-refs': `${OTHER} refs/heads/x/refs/heads\n${COMMIT} refs/heads/main\n`,
    },
    COMMIT,
  ],
  [
    'a worktree',
    {
      '.git': 'gitdir: repository/worktrees/one\n',
      'repository/worktrees/one/HEAD': 'ref: refs/heads/main\n',
      'repository/worktrees/one/commondir': '../..\n',
      'repository/refs/heads/main': `${COMMIT}\n`,
    },
    COMMIT,
  ],
  ['no checkout', {}, undefined],
  ['a branch without a commit', { '.git/HEAD': 'ref: refs/heads/main\n' }, undefined],
]

test('the version has the commit of a checkout', async (t) => {
  for (const [kind, files, commit] of CHECKOUTS) {
    await t.test(kind, () => {
      const folder = mkdtempSync(join(tmpdir(), 'grantor-test-'))
      try {
        for (const [name, text] of Object.entries(files)) {
          mkdirSync(join(folder, name, '..'), { recursive: true })
          writeFileSync(join(folder, name), text)
        }
        assert.equal(findCommit(join(folder, '.git')), commit)
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  }
  // Semantic Versioning 2.0.0 §10.
  assert.match(VERSION, /^\d+\.\d+\.\d+(\+[0-9a-f]{12})?$/)
})

test('the version of the published package has the commit that it was made from, also within another checkout', () => {
  assert.equal(versionOf({ version: '0.1.0', gitHead: COMMIT }, OTHER), '0.1.0+0123456789ab')
  assert.equal(versionOf({ version: '0.1.0' }, undefined), '0.1.0')
})
