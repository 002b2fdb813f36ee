import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkVersion, releaseChangelog } from '../../release/changelog.ts'

const TEXT = '# Changelog\n\n## [Unreleased]\n\n### Added\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- The first.\n'

test('a release turns Unreleased into a section with version and date, and keeps an empty Unreleased', () => {
  const { text, notes } = releaseChangelog(TEXT, '0.2.0', '2026-12-01')
  assert.equal(notes, '### Added\n- A thing.')
  assert.equal(text, TEXT.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n'))
  assert.throws(() => releaseChangelog(text, '0.3.0', '2026-12-02'), /is empty/)
  assert.throws(() => releaseChangelog(TEXT, '0.1.0', '2026-12-02'), /already/)
  assert.throws(() => releaseChangelog('# Changelog\n', '0.1.0', '2026-12-02'), /no section/)
})

test('a release has a version above the current one', () => {
  for (const version of ['0.1.1', '0.2.0', '1.0.0', '0.10.0']) checkVersion(version, '0.1.0', false)
  for (const version of ['0.1.0', '0.0.9', '0.1', 'v0.2.0', '0.2.0-beta', '']) {
    assert.throws(() => checkVersion(version, '0.1.0', false), /is not a version such as|is not above/)
  }
  assert.throws(() => checkVersion('1.9.9', '2.0.0', false))
})

test('the first release may have the version that package.json has, and none below it', () => {
  for (const version of ['0.1.0', '0.2.0']) checkVersion(version, '0.1.0', true)
  assert.throws(() => checkVersion('0.0.9', '0.1.0', true), /is not above/)
})
