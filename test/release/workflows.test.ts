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
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly env?: object }[]
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
    ...faultsOfKey(name, environment, steps),
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

/** A pushed tag brings its own checkout and its own build, so neither may say which key signs or which digest a file has. */
function faultsOfKey(name: string, environment: string | undefined, steps: Job['steps']): readonly string[] {
  return steps
    .filter(({ run }) => run?.includes('verify-tag'))
    .flatMap(({ run = '', env = {} }) => [
      ...(environment === undefined ? [`${name} verifies a tag outside the environment that has the key`] : []),
      ...(/allowedSignersFile=\$RUNNER_TEMP\//.test(run) ? [] : [`${name} takes the key from the checkout`]),
      ...(Object.values(env).includes('${{ vars.RELEASE_SIGNERS }}') ? [] : [`${name} does not take the variable`]),
      ...(/test -n "\$SIGNERS" \|\|/.test(run) ? [] : [`${name} goes on without a key`]),
      ...(/\$\(sha256sum /.test(run) ? [] : [`${name} computes no digest`]),
      ...(/ diff .*expected/.test(run) ? [] : [`${name} does not require each file`]),
      ...(/SHA256SUMS/.test(run) ? [`${name} reads the digests of the build`] : []),
    ])
}

test('workflows have no permissions but those of a job, name actions by commit, and run scripts that exist', () => {
  assert.deepEqual(
    WORKFLOWS.map((path) => path.split('/').at(-1)),
    ['prove.yml', 'release.yml', 'site.yml', 'test.yml'],
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
    [/(publish-npm:[^]*?) {4}environment: release\n/, '$1', /publish-npm may write, and no person approves it/],
    ['run build:single', 'run build:double', /there is no script build:double/],
    ['run build:single', 'run prove luck', /there is no proof luck/],
    ['run build:single', 'run build:single -- ${{ github.head_ref }}', /runs the text of github\.head_ref/],
    [/(compare:[^]*?) {4}environment: release\n/, '$1', /compare verifies a tag outside the environment/],
    [
      '$RUNNER_TEMP/signers" verify-tag',
      'release/allowed_signers" verify-tag',
      /compare takes the key from the checkout/,
    ],
    ['${{ vars.RELEASE_SIGNERS }}', 'release@grantor ssh-ed25519 AAAA', /compare does not take the variable/],
    [/.*test -n "\$SIGNERS".*\n/, '', /compare goes on without a key/],
    [/digest=\$\(sha256sum .*\)/, 'digest=$(cut -c 1-64 "$file.sha256")', /compare computes no digest/],
    [/sort \| diff .*/, 'cat', /compare does not require each file/],
    ['done < "$RUNNER_TEMP/expected"', 'done < SHA256SUMS.x64', /compare reads the digests of the build/],
  ]
  for (const [from, to, found] of planted) {
    const text = release.replace(from, to)
    assert.notEqual(text, release, String(from))
    assert.match(faultsOf(text).join('\n'), found)
  }
})
