import { names, readOptions } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { NPM_MAJORS, proveNpm } from './npm.ts'
import { provePage } from './page.ts'

/** npm ci with npm 10, 11 and 12, and the commands of the manual's installation. See docs/proofs.md. */

const PARTS = [...NPM_MAJORS.map((major) => `npm-${major}`), 'page']

const { only } = readOptions({ only: names('the parts', PARTS, 'all') })

beginSession()
const findings = openFindings()
const lines: string[] = []
for (const part of only) {
  if (part === 'page') lines.push(...(await provePage(findings)))
  else {
    const { version, lines: ways } = await proveNpm(part.replace('npm-', ''), findings)
    lines.push(`npm ${version}`, ...ways.map((way) => `  ${way}`))
  }
}
printReport(only.join(', '), lines, findings)
