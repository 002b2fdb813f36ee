import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test, type TestContext } from 'node:test'
import { originOf, publishedManifest, type Manifest } from '../../release/manifest.ts'
import { publishedPage, publishedPages } from '../../release/pages.ts'
import { packagesOfLayers } from '../repository/layout.ts'
import { temporaryFolder } from '../support/server.ts'

const checkout = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const published = publishedManifest(checkout, COMMIT)
const names = (group: unknown): readonly string[] => Object.keys(group as object)

test('the published package runs no script, brings no Node.js, and needs no package that the sources do not import', () => {
  assert.equal(published['scripts'], undefined)
  assert.equal(published['private'], undefined)
  assert.equal(published['optionalDependencies'], undefined)
  assert.equal(published['version'], checkout.version)
  assert.equal(published['gitHead'], COMMIT)
  assert.ok(!('gitHead' in publishedManifest(checkout, undefined)))
  assert.deepEqual(published['dependencies'], checkout['dependencies'])
  const imported = packagesOfLayers()
  for (const name of names(published['dependencies'])) assert.ok(imported.includes(name), name)
  assert.ok(names(published['dependencies']).every((name) => !name.startsWith('@opentelemetry/')))
  assert.deepEqual(names(published['peerDependencies']), names(published['peerDependenciesMeta']))
})

const LINK = /(?:\]\(|src=")((?![a-z]+:)[^)\s"#{]+)/g

test('no link or picture of a published page leads to what the package leaves out', () => {
  const pages = publishedPages()
  const texts = pages.filter((page) => page.endsWith('.md'))
  const linksOf = (page: string): readonly string[] =>
    [...publishedPage(page, readFileSync(page, 'utf8'), pages, undefined).matchAll(LINK)].map(([, link = '']) =>
      posix.join(posix.dirname(page), link).replace(/\/$/, ''),
    )
  const links = texts.flatMap((page) => linksOf(page).map((link) => ({ page, link })))
  assert.ok(links.length > 500)
  assert.deepEqual(
    links.filter(({ link }) => !pages.some((page) => page === link || page.startsWith(`${link}/`))),
    [],
  )
})

test('a link to what the package leaves out leads to the repository at the tag, and is plain text without a repository', () => {
  const page = `[A proof](proofs.md#results), [a page](users.md#x), [a site](https://a.example/b.md), [here](#x).

<p align="center"><img src="images/a.png" width="9"></p>

![A picture](images/b.png)

\`\`\`md
[Code](proofs.md)
\`\`\`
`
  const [start = ''] = page.split('```')
  const repository = { type: 'git', url: 'git+https://git.example.com/grantor.git' }
  const at = 'https://git.example.com/grantor'
  assert.equal(
    publishedPage('docs/a.md', page, ['docs/users.md'], originOf({ ...checkout, version: '1.2.3', repository })),
    start
      .replace('proofs.md', `${at}/blob/v1.2.3/docs/proofs.md`)
      .replaceAll(/images\/[ab]\.png/g, (path) => `${at}/raw/v1.2.3/docs/${path}`) + page.slice(start.length),
  )
  assert.equal(
    publishedPage('docs/a.md', page, ['docs/users.md'], originOf({ ...checkout, repository: undefined })),
    'A proof, [a page](users.md#x), [a site](https://a.example/b.md), [here](#x).\n\n```md\n[Code](proofs.md)\n```\n',
  )
})

test('the published package has its pages, and no page beside its list of files', () => {
  const pages = publishedPages()
  for (const page of ['README.md', 'SECURITY.md', 'docs/README.md', 'docs/install.md'])
    assert.ok(pages.includes(page), page)
  const files = published['files'] as readonly string[]
  assert.deepEqual(
    pages.filter((page) => !files.includes(page.split('/')[0] ?? '')),
    [],
  )
})

test('the published package names the repository when package.json names one', () => {
  const repository = { type: 'git', url: 'git+https://git.example.com/grantor.git' }
  assert.deepEqual(publishedManifest({ ...checkout, repository }, undefined)['repository'], repository)
})

/** The programs of the published package, without its library, on a Node.js that reports another version. */
function runProgram(t: TestContext, node: string): { readonly status: number | null; readonly stderr: string } {
  const folder = join(temporaryFolder(t), 'package')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(published))
  cpSync('bin', join(folder, 'bin'), { recursive: true })
  const reported = `Object.defineProperty(process, 'versions', { value: { node: '${node}' } })`
  const older = ['--import', `data:text/javascript,${encodeURIComponent(reported)}`]
  return spawnSync(process.execPath, [...older, join(folder, 'bin', 'grantor.js')], { encoding: 'utf8' })
}

test('the published command needs a Node.js with a safe SQLite, and says on another one in one line what to do', (t) => {
  for (const node of ['18.20.8', '22.23.3', '24.14.1', '25.9.0']) {
    const { status, stderr } = runProgram(t, node)
    assert.equal(status, 1, node)
    assert.match(
      stderr,
      /^Grantor needs Node\.js \^24\.15\.0 \|\| >=26, and this is .* npx -p node@26 grantor serve\n$/,
      node,
    )
  }
  for (const node of ['24.15.0', '24.21.0', '26.0.0', '28.1.0']) {
    // It got as far as its library, which is not there.
    assert.match(runProgram(t, node).stderr, /ERR_MODULE_NOT_FOUND/, node)
  }
})

test('without the packages of development, npm run pack and build:single say so in one sentence', (t) => {
  const cwd = temporaryFolder(t)
  for (const [script, ...words] of [
    ['pack', 'build.ts', 'pack'],
    ['build', 'build.ts'],
    ['build:single', 'single.ts'],
  ] as const) {
    const [file = '', ...args] = words
    const path = new URL(`../../release/${file}`, import.meta.url).pathname
    const { status, stderr } = spawnSync(process.execPath, [path, ...args], { cwd, encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(stderr, new RegExp(`^npm run ${script} needs \\w+, a package for development[^\n]+\n$`))
  }
})
