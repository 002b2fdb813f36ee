import { PassThrough } from 'node:stream'
import type { TestContext } from 'node:test'
import type { Finding } from '../../src/checks/finding.ts'
import { runCommandLine } from '../../src/cli/program.ts'
import { openTerminal } from '../../src/cli/lib/terminal.ts'
import { openTestServer, type TestServer, type TestServerOptions } from './server.ts'
import type { Finished, Place, RunOptions } from './process.ts'

/** The command line within this process, for what would take too many processes of its own. */

export interface CommandOptions {
  /** GRANTOR_ADMIN_TOKEN. */
  readonly token?: string | undefined
  /** Other variables of the environment, for example those that a file of "grantor apply" names. */
  readonly variables?: Readonly<Record<string, string>>
  /** Standard input. */
  readonly input?: string
  /** The command that starts the program. */
  readonly command?: string | undefined
}

/** Runs one command to its end. */
export async function command(words: readonly string[], options: CommandOptions = {}): Promise<Finished> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  stdin.end(options.input ?? '')
  const terminal = openTerminal(
    { stdin, stdout, stderr },
    { ...options.variables, GRANTOR_ADMIN_TOKEN: options.token },
    options.command ?? 'grantor',
  )
  const code = await runCommandLine(words, terminal)
  // Of this command; the test's own process is fine.
  process.exitCode = 0
  return { code, stdout: textOf(stdout), stderr: textOf(stderr) }
}

/** Runs one command that must succeed with `--json`; answers its document. */
export async function commandJson<T>(words: readonly string[], options: CommandOptions = {}): Promise<T> {
  return documentOf(words, await command([...words, '--json'], options)) as T
}

/** What `doctor` says about a subject, over the store of `openServerForCommands`. It may fail. */
export async function findingsAbout(
  subject: string,
  ...options: readonly string[]
): Promise<readonly (readonly [Finding['verdict'], string])[]> {
  const { stdout } = await command(['doctor', '--json', ...options])
  const report = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
  return report.findings.filter(({ check }) => check === subject).map(({ verdict, message }) => [verdict, message])
}

let last: Promise<unknown> = Promise.resolve()

/**
 * As `run` of process.ts, but within this process, one after the other: a process of its own takes longer to start than a
 * command runs, and shows no more of what a command says and does.
 */
export function runHere(
  place: Pick<Place, 'environment'>,
  words: readonly string[],
  { input = '', environment = {}, command: name }: RunOptions & Pick<CommandOptions, 'command'> = {},
): Promise<Finished> {
  const variables = { ...place.environment, ...environment }
  const mine = last.then(async () => {
    const before = { ...process.env }
    setEnvironment(variables)
    try {
      return await command(words, { input, variables, token: variables['GRANTOR_ADMIN_TOKEN'], command: name })
    } finally {
      setEnvironment(before)
    }
  })
  last = mine.catch(() => undefined)
  return mine
}

/** As `commandJson`, at a place. */
export async function runJsonHere<T>(place: Place, words: readonly string[]): Promise<T> {
  return documentOf(words, await runHere(place, [...words, '--json'])) as T
}

/** As `serve` of process.ts, but within this process, where the test is about what commands say beside a server. */
export async function serveHere(
  test: Pick<TestContext, 'after'>,
  { environment, folder, endings }: Place,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const server = await openTestServer(test, { listen: true, folder, env: { ...environment, ...settings } })
  endings.add(server.close)
}

/** A server that listens, over whose store the commands of this process work. One a test file: the environment is one. */
export async function openServerForCommands(
  test: Pick<TestContext, 'after'>,
  options: Pick<TestServerOptions, 'passwordCosts'> = {},
): Promise<TestServer> {
  const env = { GRANTOR_CLIENT_FAILURE_RATE: '1000000' }
  const server = await openTestServer(test, { listen: true, env, ...options })
  const { port } = new URL(server.origin)
  Object.assign(process.env, { PORT: port, DATABASE_URL: `sqlite:${server.folder}/grantor.db` })
  return server
}

function documentOf(words: readonly string[], { code, stdout, stderr }: Finished): unknown {
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout) as unknown
}

/** All of it; what is not named is not set. */
function setEnvironment(wanted: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in wanted)) delete process.env[name]
  Object.assign(process.env, wanted)
}

function textOf(stream: PassThrough): string {
  let text = ''
  for (let chunk = read(stream); chunk !== null; chunk = read(stream)) text += chunk.toString()
  return text
}

function read(stream: PassThrough): Buffer | null {
  return stream.read() as Buffer | null
}
