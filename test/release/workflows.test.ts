import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'

interface Workflow {
  readonly permissions?: object
  readonly jobs: Readonly<Record<string, Job>>
}

interface Job {
  readonly permissions?: object
  readonly 'timeout-minutes'?: number
  readonly environment?: string
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: object }[]
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object }
const WORKFLOWS = globSync('.github/workflows/*.yml').toSorted()

/** What a workflow does that one of a release must not do. */
function faultsOf(text: string): readonly string[] {
  const { permissions, jobs } = parse(text) as Workflow
  return [
    ...(JSON.stringify(permissions) === '{}' ? [] : ['the workflow has permissions of its own']),
    ...[...text.matchAll(/uses: (.+)/g)].flatMap(([, used = '']) =>
      /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used) ? [] : [`${used} is not named by its commit`],
    ),
    ...Object.entries(jobs).flatMap(([name, job]) => faultsOfJob(name, job)),
  ]
}

function faultsOfJob(name: string, { permissions, environment, steps, ...job }: Job): readonly string[] {
  const writes = Object.values(permissions ?? {}).includes('write')
  const commands = steps.map(({ run }) => run ?? '').join('\n')
  const inserted = [...commands.matchAll(/\$\{\{ *([\w.]+) *\}\}/g)].map(([, value = '']) => value)
  return [
    ...(permissions === undefined ? [`${name} has no permissions`] : []),
    ...(job['timeout-minutes'] === undefined ? [`${name} has no time limit`] : []),
    ...(writes && environment === undefined ? [`${name} may write, and no person approves it`] : []),
    // A text of others in a command could be a command.
    ...inserted.filter((value) => !value.startsWith('matrix.')).map((value) => `${name} runs the text of ${value}`),
    ...[...commands.matchAll(/\brun ([a-z:]+)(?: ([a-z-]+))?/g)].flatMap(([, script = '', program = '']) => {
      if (!Object.hasOwn(scripts, script)) return [`${name}: there is no script ${script}`]
      return script === 'prove' && !existsSync(`prove/${program}/run.ts`)
        ? [`${name}: there is no proof ${program}`]
        : []
    }),
  ]
}

test('workflows have no permissions but those of a job, name actions by commit, and run scripts that exist', () => {
  assert.deepEqual(
    WORKFLOWS.map((path) => path.split('/').at(-1)),
    ['prove.yml', 'release.yml', 'test.yml'],
  )
  for (const path of WORKFLOWS) assert.deepEqual(faultsOf(readFileSync(path, 'utf8')), [], path)
})

test('each of these faults of a workflow is found', () => {
  const release = readFileSync('.github/workflows/release.yml', 'utf8')
  const planted: readonly (readonly [from: string | RegExp, to: string, found: RegExp])[] = [
    ['permissions: {}', 'permissions: write-all', /permissions of its own/],
    [/checkout@[0-9a-f]{40} # v4\.2\.2/, 'checkout@v4', /checkout@v4 is not named by its commit/],
    [/ {4}permissions:\n {6}contents: read\n {4}steps/, '    steps', /build has no permissions/],
    [/ {4}timeout-minutes: 30\n/, '', /build has no time limit/],
    [/ {4}environment: release\n/, '', /publish-npm may write, and no person approves it/],
    ['run build:single', 'run build:double', /there is no script build:double/],
    ['run build:single', 'run prove luck', /there is no proof luck/],
    [
      /\$\{\{ matrix\.arch \}\} *\n {6}- uses/,
      '${{ github.head_ref }}\n      - uses',
      /runs the text of github\.head_ref/,
    ],
  ]
  for (const [from, to, found] of planted) {
    const text = release.replace(from, to)
    assert.notEqual(text, release, String(from))
    assert.match(faultsOf(text).join('\n'), found)
  }
})
