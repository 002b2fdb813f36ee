import { statSync } from 'node:fs'
import { packPackage, SIZE_LIMIT } from '../../release/build.ts'
import { names, readOptions } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { checkOlderNode, installRuntime } from './runtimes.ts'
import { proveInstallation } from './installation.ts'
import { checkTypes } from './types.ts'
import { runTool } from './tool.ts'

/** The packed npm package, installed and walked through as its user does. See docs/proofs.md. */

const MANAGERS = ['npm', 'pnpm'] as const
/** The oldest ones that the package accepts, and the one that a checkout brings. */
const RUNTIMES = ['24.15.0', '26.0.0', process.versions.node] as const
/** The last release whose SQLite the server refuses. */
const TOO_OLD = '24.14.1'

const { managers, runtimes } = readOptions({
  managers: names('the package managers', MANAGERS, 'all'),
  runtimes: names('the versions of Node.js', RUNTIMES, 'all'),
})

beginSession()
const findings = openFindings()
const attempt = async (what: string, work: () => Promise<string> | string): Promise<string> => {
  findings.progress(what)
  try {
    return `${what}: ${await work()}`
  } catch (cause) {
    findings.report(`${what}: ${(cause as Error).message}`)
    return `${what}: failed`
  }
}

const packed = `${process.cwd()}/${await packPackage()}`
const lines = [
  await attempt('size', () => {
    const { size } = statSync(packed)
    if (size > SIZE_LIMIT) throw new Error(`${size} bytes; the limit is ${SIZE_LIMIT}.`)
    return `${size} bytes packed`
  }),
  await attempt('publint', () => runTool('npx', ['--yes', 'publint@0.3.25', '--strict', packed])),
  await attempt('@arethetypeswrong/cli', () => {
    runTool('npx', ['--yes', '@arethetypeswrong/cli@0.18.5', '--profile', 'esm-only', packed])
    return 'no problem'
  }),
  await attempt(`Node.js ${TOO_OLD}`, () => checkOlderNode(installRuntime(TOO_OLD), packed)),
]
for (const version of runtimes) {
  for (const manager of managers) {
    lines.push(
      await attempt(`${manager}, Node.js ${version}`, () =>
        proveInstallation(manager, installRuntime(version), packed),
      ),
    )
  }
}
lines.push(await attempt('types', () => checkTypes(packed)))
printReport(`${managers.join(', ')}; Node.js ${runtimes.join(', ')}`, lines, findings)
