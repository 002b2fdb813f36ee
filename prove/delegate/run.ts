import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { createDelegateCredentials } from '../../src/admin/delegate.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { readOptions, string } from '../../tools/options.ts'
import { startProgram } from '../../tools/process/program.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { openGrantor } from '../resource-servers/grantor.ts'
import { preparePython, pythonOf, runProgram } from '../resource-servers/programs.ts'
import { walkApplication } from './walk.ts'

/** The samples of delegated sign-in in Python and Go. See docs/delegated-sign-in.md. */

interface Sample {
  /** The folder below examples/delegated-sign-in. */
  readonly name: string
  /** @throws Error if a program is missing */
  readonly prepare: (folder: string) => Promise<void>
  readonly command: (folder: string, port: string) => readonly string[]
}

const SAMPLES: readonly Sample[] = [
  {
    name: 'fastapi',
    prepare: preparePython,
    command: (folder, port) => [pythonOf(folder), '-m', 'uvicorn', 'main:app', '--host', 'localhost', '--port', port],
  },
  {
    name: 'go',
    prepare: (folder) => runProgram('go', ['build', '-o', 'sample', '.'], folder),
    command: (folder) => [join(folder, 'sample')],
  },
]

const { only = '' } = readOptions({
  only: string('text', 'only the samples whose name contains the text'),
})
const PASSWORD = 'correct horse battery staple'

beginSession()
const findings = openFindings()
const lines: string[] = []
for (const sample of SAMPLES.filter(({ name }) => name.includes(only))) lines.push(await prove(sample))
printReport('delegated sign-in', lines, findings)

async function prove({ name, prepare, command }: Sample): Promise<string> {
  const folder = join(openFolder(), name)
  cpSync(join('examples', 'delegated-sign-in', name), folder, { recursive: true })
  await prepare(folder)
  const [port = 0, adminPort = 0] = await freePorts(2)
  const page = `http://localhost:${port}/oauth/consent`
  const grantor = await openGrantor({ GRANTOR_DELEGATE_URL: page, GRANTOR_ADMIN_PORT: String(adminPort) })
  const { token } = await createDelegateCredentials(grantor.context, 1)
  const admin = `http://localhost:${adminPort}`
  const environment = {
    SAMPLE_PORT: String(port),
    ADA_PASSWORD: PASSWORD,
    DELEGATE_ADMIN_URL: admin,
    DELEGATE_TOKEN: token,
  }
  const running = await startProgram({ command: command(folder, String(port)), folder, environment, address: page })
  try {
    const faults = await walkApplication({
      grantor,
      page,
      password: PASSWORD,
      async findAnswer(interaction) {
        const headers = { authorization: `Bearer ${token}` }
        const answer = await fetch(`${admin}/admin/v1/interactions/${interaction}`, { headers })
        return ((await answer.json()) as { readonly answered: string | null }).answered
      },
    })
    for (const fault of faults) findings.report(`${name}: ${fault}`)
    return `${name}: ${faults.length === 0 ? 'as it should be' : running.output().slice(-2000)}`
  } finally {
    await running.stop()
    await grantor.close()
  }
}
