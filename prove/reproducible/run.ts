import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { digestOfFile, filesOf } from '../../release/folder.ts'
import { readOptions } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'

/**
 * Two builds of a release by two users are equal. Their folders, umasks, time zones, languages and clocks differ. See docs/proofs.md.
 */

/** The checkouts are beside the packages of this one, of which they have links. */
const FOLDER = 'dist/reproducible'
const YEAR_MS = 365 * 86_400_000
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

interface Builder {
  readonly folder: string
  readonly umask: string
  /** undefined: the user of this process. */
  readonly user: number | undefined
  readonly clockMs: number
  readonly environment: Readonly<Record<string, string>>
}

const BUILDERS: readonly Builder[] = [
  { folder: 'one', umask: '022', user: undefined, clockMs: 0, environment: { TZ: 'UTC', LC_ALL: 'C' } },
  {
    folder: 'another place/two',
    umask: '077',
    user: isRoot ? NOBODY : undefined,
    clockMs: 3 * YEAR_MS,
    environment: { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
  },
]

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }

/** Makes the folder of a release in a checkout of its own. Returns the digests of its files; the signature is of another key each time. */
function build({ folder, umask, user, clockMs, environment }: Builder): ReadonlyMap<string, string> {
  const checkout = resolve(FOLDER, folder)
  const home = `${checkout} home`
  mkdirSync(home, { recursive: true })
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', '.', checkout])
  const clock = join(home, 'clock')
  writeFileSync(clock, String(clockMs))
  if (user !== undefined) execFileSync('chown', ['-R', `${user}:${user}`, checkout, home])
  // Links, because copies are 600 MB. Nothing writes there.
  execFileSync('cp', ['-al', 'node_modules', join(checkout, 'node_modules')])
  const script = `umask ${umask} && npm run --silent release -- ${version} --rehearse`
  execFileSync('sh', ['-c', script], {
    cwd: checkout,
    ...(user !== undefined && { uid: user, gid: user }),
    env: {
      ...environment,
      HOME: home,
      PATH: `${join(checkout, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
      CLOCK_FILE: clock,
      NODE_OPTIONS: `--import=${join(process.cwd(), 'prove/clocks/stepping-date.ts')}`,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const made = join(checkout, `dist/grantor-${version}`)
  return new Map(filesOf(made).map((name) => [name, digestOfFile(join(made, name))]))
}

readOptions({})
beginSession()
const findings = openFindings()
rmSync(FOLDER, { recursive: true, force: true })
process.once('exit', () => rmSync(FOLDER, { recursive: true, force: true }))
const [one, two] = BUILDERS.map((builder) => {
  findings.progress(builder.folder)
  return build(builder)
})
const names = [...new Set([...(one?.keys() ?? []), ...(two?.keys() ?? [])])]
for (const name of names)
  if (one?.get(name) !== two?.get(name)) findings.report(`${name}: ${one?.get(name)} and ${two?.get(name)}`)
if (names.length === 0) findings.report('Nothing was made.')
printReport(
  `two folders, umasks 022 and 077, time zones, languages, clocks three years apart${isRoot ? ', two users' : ''}`,
  [`${names.filter((name) => one?.get(name) === two?.get(name)).length} of ${names.length} files have equal digests`],
  findings,
)
