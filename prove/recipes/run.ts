import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { launchBrowser } from '../../tools/browser.ts'
import { startExample } from '../../tools/example.ts'
import { names, readOptions } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { requestResource } from '../resource-servers/resource-server.ts'

/** The examples with packages of npm and PyPI: Next.js in a browser, FastAPI with FastMCP. See docs/proofs.md. */

const RECIPES = { nextjs: proveNextjs, fastapi: proveFastapi } as const
const { only } = readOptions({ only: names('the examples', ['nextjs', 'fastapi'], 'all') })

beginSession()
const findings = openFindings()
const ends: (() => Promise<void>)[] = []
const test = { after: (end: () => Promise<void>) => void ends.push(end) }
const lines: string[] = []
for (const name of only) {
  findings.progress(name)
  try {
    lines.push(`${name}: ${await RECIPES[name]()}`)
  } catch (cause) {
    findings.report(`${name}: ${String(cause)}`)
  }
  for (const end of ends.splice(0)) await end()
}
printReport(only.join(', '), lines, findings)

async function proveNextjs(): Promise<string> {
  const { status, stderr } = spawnSync('npm', ['ci'], { cwd: join('examples', 'nextjs'), encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ci failed: ${stderr}`)
  const example = startExample(test, 'nextjs', {})
  const [origin = '', email = '', password = ''] = await example.printed(
    /Open (\S+) and sign in as (\S+) with .* (\S+)\n/,
  )
  const browser = await launchBrowser()
  test.after(() => browser.close())
  const tab = await browser.newPage()
  // The development server compiles a page at its first request.
  tab.setDefaultTimeout(120_000)
  await tab.goto(origin)
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.getByLabel('Email', { exact: true }).fill(email)
  await tab.getByLabel('Password', { exact: true }).fill(password)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  await tab.getByRole('button', { name: 'Allow', exact: true }).click()
  await tab.getByText(email).waitFor()
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await tab.getByRole('button', { name: 'Sign in' }).waitFor()
  await requireCleanEnd(example)
  return 'signed in, shown, signed out'
}

async function proveFastapi(): Promise<string> {
  const example = startExample(test, 'fastapi', { VENV: join(openFolder(), 'venv') })
  const [mcp = '', endpoint = '', id = '', secret = '', api = ''] = await example.printed(
    / orders (\S+)\n[^]*curl -s (\S+) -u (gci_[^:]+):(\S+) .* resource=(\S+)\n[^]*Authorization/,
  )
  const tokenFor = async (resource: string): Promise<string> => {
    const headers = { authorization: `Basic ${btoa(`${id}:${secret}`)}` }
    const body = new URLSearchParams({ grant_type: 'client_credentials', resource })
    const { access_token: token } = (await (await fetch(endpoint, { method: 'POST', headers, body })).json()) as {
      readonly access_token: string
    }
    return token
  }
  const [ofApi, ofMcp] = [await tokenFor(api), await tokenFor(mcp)]
  for (const [path, resource, token, expected] of [
    ['/orders', api, ofApi, 'served'],
    ['/orders', api, ofMcp, 'unauthorized'],
    ['/orders', api, `${ofApi}x`, 'unauthorized'],
    ['/orders', api, undefined, 'unauthorized'],
    ['/mcp', mcp, ofMcp, 'served'],
    ['/mcp', mcp, ofApi, 'unauthorized'],
    ['/mcp', mcp, undefined, 'unauthorized'],
  ] as const) {
    const answer = await requestResource({ path }, resource, token)
    if (answer !== expected) throw new Error(`${path} answers ${answer} instead of ${expected}.`)
  }
  await requireCleanEnd(example)
  return 'the API and the MCP server each serve their token and refuse 5 others'
}

/** @throws Error if Ctrl-C does not end the example, or it leaves a file */
async function requireCleanEnd({ interrupt }: ReturnType<typeof startExample>): Promise<void> {
  const { code, left } = await interrupt()
  if (code !== 0 || left.length > 0) throw new Error(`It ended with ${code}, and left ${left.join(', ')}.`)
}
