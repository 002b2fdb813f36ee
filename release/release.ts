import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { packPackage } from './build.ts'
import { checkVersion, releaseChangelog } from './changelog.ts'
import { fetchDigests, pinDigests } from './digests.ts'

/**
 * Makes a release (CONTRIBUTING.md): `npm run release -- <version>`. Checks the checkout, runs the tests and the proof of the package,
 * pins the images of the container and compose files to their digests, writes the version and the changelog, commits, tags `v<version>`, and packs the package with its software bill of materials.
 * Publishes nothing.
 */

const MIGRATIONS = 'src/store/migrations'

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' }).trim()
}

function npm(...words: readonly string[]): void {
  execFileSync('npm', words, { stdio: 'inherit' })
}

/** @throws Error when a file differs from what is committed */
function requireClean(why: string): void {
  const changes = git('status', '--porcelain')
  if (changes !== '') throw new Error(`${why}\n${changes}`)
}

/** The tag of the newest release, or an empty text before the first one. */
function lastTag(): string {
  return git('tag', '--list', 'v*', '--sort=-version:refname').split('\n')[0] ?? ''
}

/** Released migrations never change, because databases have applied them (docs/migrations.md). */
function requireSameMigrations(last: string): void {
  if (last === '') return
  const changed = git('diff', '--name-only', '--diff-filter=MDR', last, '--', MIGRATIONS)
  if (changed !== '') throw new Error(`These migrations were released with ${last} and must not change:\n${changed}`)
}

async function release(version: string): Promise<void> {
  const { version: current } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const last = lastTag()
  checkVersion(version, current, last === '')
  const { text, notes } = releaseChangelog(
    readFileSync('CHANGELOG.md', 'utf8'),
    version,
    new Date().toISOString().slice(0, 10),
  )
  requireClean('Commit or remove these changes first:')
  requireSameMigrations(last)
  npm('run', 'docs')
  requireClean('"npm run docs" changed these pages. Commit them first:')
  // A release needs them, and the tests take minutes.
  const digests = await fetchDigests()
  npm('test')
  npm('run', 'prove', 'package')
  pinDigests(digests)
  writeFileSync('CHANGELOG.md', text)
  npm('version', '--no-git-tag-version', '--allow-same-version', version)
  git('commit', '--all', '--message', `chore(release): ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `${version}\n\n${notes}`, '--cleanup=verbatim')
  console.log(`Released v${version}. Publish it with: git push --follow-tags && npm publish ${await packPackage()}`)
}

try {
  await release(process.argv[2] ?? '')
} catch (cause) {
  console.error(`release: ${(cause as Error).message}`)
  process.exitCode = 1
}
