import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../../tools/process/free-ports.ts'
import { startProgram } from '../../tools/process/program.ts'
import { runProgram } from '../resource-servers/programs.ts'
import { GROUP, SCOPE, statusOf, visit, type Stage } from './stage.ts'

const VERSION = '7.15.6'

/** Proxies for the members of the group alone. It refreshes the tokens after a second. */
export async function proveOauth2Proxy(stage: Stage): Promise<string> {
  const { folder, grantor, setMember, makeClient } = stage
  const program = join(folder, 'oauth2-proxy')
  if (!existsSync(program)) {
    const source = `github.com/oauth2-proxy/oauth2-proxy/v7@v${VERSION}`
    await runProgram('go', ['install', source], folder, { GOBIN: folder })
  }
  const [port = 0] = await freePorts(1)
  const origin = `http://localhost:${port}`
  const client = await makeClient(`${origin}/oauth2/callback`)
  const settings = {
    provider: 'oidc',
    'oidc-issuer-url': grantor.origin,
    'client-id': client.client_id,
    'client-secret': client.client_secret,
    'redirect-url': `${origin}/oauth2/callback`,
    'http-address': `127.0.0.1:${port}`,
    scope: SCOPE,
    'code-challenge-method': 'S256',
    'cookie-secret': randomBytes(16).toString('hex'),
    'cookie-secure': 'false',
    'cookie-refresh': '1s',
    'email-domain': '*',
    upstream: 'static://202',
    'allowed-group': GROUP,
    'skip-provider-button': 'true',
  }
  const command = [program, ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`)]
  const running = await startProgram({ command, folder, environment: {}, address: `${origin}/ping` })
  try {
    const outside = await statusOf(await visit(stage, origin), origin)
    await setMember(true)
    const tab = await visit(stage, origin)
    const inside = await statusOf(tab, origin)
    await setMember(false)
    await tab.waitForTimeout(2500)
    const after = await statusOf(tab, origin)
    const said = `outside ${outside}, in ${inside}, ${after} with the next refresh after the removal`
    if (outside !== 302 && outside !== 403) stage.report(`oauth2-proxy: ${said}`)
    if (inside !== 202 || after !== 403) stage.report(`oauth2-proxy: ${said}\n${running.output().slice(-3000)}`)
    return `oauth2-proxy ${VERSION}: ${said}`
  } finally {
    await running.stop()
  }
}
