import { randomBytes } from 'node:crypto'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { freePorts } from '../../tools/process/free-ports.ts'
import { startProgram } from '../../tools/process/program.ts'
import { preparePython, pythonOf, pythonVersion, runProgram } from '../resource-servers/programs.ts'
import { GROUP, OTHER, SCOPE, visit, type Stage } from './stage.ts'

const PROXY = 'configurable-http-proxy'
const PROXY_VERSION = '5.3.0'

/** Installs the packages of a folder of this proof, once. Returns the folder of the installation. */
async function install({ folder: root }: Stage, name: string): Promise<string> {
  const folder = join(root, name)
  cpSync(join('prove', 'groups', name), folder, { recursive: true })
  if (!existsSync(join(folder, 'venv'))) await preparePython(folder)
  return folder
}

/** Waits for the last step of a start: the way to a program that answers already. */
async function untilServed(address: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if ((await fetch(address)).ok) return
    await new Promise((resolve) => void setTimeout(resolve, 100))
  }
  throw new Error(`${address} does not answer.`)
}

/** What an application lets the user do: before the user is in the group, in it, and after the removal. */
interface Visits {
  readonly outside: string
  readonly inside: string
  readonly after: string
}

/** Signs in three times: the user gets into the group before the second time, and is removed before `again`. */
async function visits(
  stage: Stage,
  address: string,
  read: (tab: Page) => Promise<string>,
  again: (tab: Page) => Promise<string>,
): Promise<Visits> {
  const outside = await read(await visit(stage, address))
  await stage.setMember(true)
  const tab = await visit(stage, address)
  const inside = await read(tab)
  await stage.setMember(false)
  return { outside, inside, after: await again(tab) }
}

function judge({ report }: Stage, name: string, found: Visits, expected: Visits, output: string): string {
  const said = `outside: ${found.outside}; in the group: ${found.inside}; after the removal: ${found.after}`
  if (JSON.stringify(found) !== JSON.stringify(expected)) report(`${name}: ${said}\n${output.slice(-3000)}`)
  return `${name}: ${said}`
}

/** Only members of the group get in. The next page after the removal, which refreshes the tokens, takes the group from the user. */
export async function proveJupyterhub(stage: Stage): Promise<string> {
  const folder = await install(stage, 'jupyterhub')
  const proxy = join(folder, 'node_modules', PROXY, 'bin', PROXY)
  if (!existsSync(proxy))
    await runProgram(
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefix', folder, `${PROXY}@${PROXY_VERSION}`],
      folder,
    )
  const [port = 0, hubPort = 0, proxyPort = 0] = await freePorts(3)
  const origin = `http://localhost:${port}`
  const client = await stage.makeClient(`${origin}/hub/oauth_callback`)
  const environment = {
    ISSUER: stage.grantor.origin,
    ORIGIN: origin,
    HUB_PORT: String(hubPort),
    PROXY_PORT: String(proxyPort),
    PROXY: `${process.execPath} ${proxy}`,
    CLIENT_ID: client.client_id,
    CLIENT_SECRET: client.client_secret,
    JUPYTERHUB_CRYPT_KEY: randomBytes(32).toString('hex'),
    CONFIGPROXY_AUTH_TOKEN: randomBytes(32).toString('hex'),
  }
  const command = [pythonOf(folder), '-m', 'jupyterhub', '--config', 'jupyterhub_config.py']
  const running = await startProgram({ command, folder, environment, address: `http://127.0.0.1:${hubPort}/hub/api` })
  try {
    await untilServed(`${origin}/hub/api`)
    const login = `${origin}/hub/oauth_login`
    const read = async (tab: Page) => {
      const own = await tab.request.get(`${origin}/hub/api/user`)
      if (own.status() !== 200) return String(own.status())
      return `in ${((await own.json()) as { readonly groups: readonly string[] }).groups.toSorted().join(' ')}`
    }
    const found = await visits(stage, login, read, async (tab) => {
      await tab.waitForTimeout(2000)
      await tab.goto(`${origin}/hub/home`)
      return `${await read(tab)} with the next page, ${await read(await visit(stage, login))} with the next sign-in`
    })
    const after = `in ${OTHER} with the next page, 403 with the next sign-in`
    const expected = { outside: '403', inside: `in ${OTHER} ${GROUP}`, after }
    const name = `${await pythonVersion(folder, 'jupyterhub')}, ${await pythonVersion(folder, 'oauthenticator')}`
    return judge(stage, name, found, expected, running.output())
  } finally {
    await running.stop()
  }
}

/** The roles of the user follow the groups at each sign-in. */
export async function proveSuperset(stage: Stage): Promise<string> {
  const folder = await install(stage, 'superset')
  const [port = 0] = await freePorts(1)
  const origin = `http://localhost:${port}`
  const client = await stage.makeClient(`${origin}/oauth-authorized/grantor`)
  const environment = {
    ISSUER: stage.grantor.origin,
    CLIENT_ID: client.client_id,
    CLIENT_SECRET: client.client_secret,
    SECRET_KEY: randomBytes(32).toString('hex'),
    DATABASE: join(folder, `superset-${port}.db`),
    SUPERSET_CONFIG_PATH: join(folder, 'superset_config.py'),
    FLASK_APP: 'superset.app:create_app()',
    SUPERSET_HOME: folder,
  }
  const superset = join(folder, 'venv', 'bin', 'superset')
  for (const step of [['db', 'upgrade'], ['init']]) await runProgram(superset, step, folder, environment)
  const command = [superset, 'run', '--port', String(port)]
  const running = await startProgram({ command, folder, environment, address: `${origin}/health` })
  try {
    const read = async (tab: Page) => {
      const { result } = (await (await tab.request.get(`${origin}/api/v1/me/roles/`)).json()) as {
        readonly result?: { readonly roles: object }
      }
      return Object.keys(result?.roles ?? {})
        .toSorted()
        .join(' ')
    }
    const login = `${origin}/login/grantor`
    const found = await visits(stage, login, read, async () => read(await visit(stage, login)))
    const name = await pythonVersion(folder, 'apache-superset')
    return judge(
      stage,
      name,
      found,
      { outside: 'Gamma Public', inside: 'Alpha Gamma Public', after: 'Gamma Public' },
      running.output(),
    )
  } finally {
    await running.stop()
  }
}

/** Only a member of the group gets in, because it is the role that may; the groups of the application follow the claim at each sign-in. */
export async function proveOpenWebui(stage: Stage): Promise<string> {
  const folder = await install(stage, 'open-webui')
  const [port = 0] = await freePorts(1)
  const origin = `http://localhost:${port}`
  const client = await stage.makeClient(`${origin}/oauth/oidc/callback`)
  const environment = {
    OPENID_PROVIDER_URL: `${stage.grantor.origin}/.well-known/openid-configuration`,
    OAUTH_CLIENT_ID: client.client_id,
    OAUTH_CLIENT_SECRET: client.client_secret,
    OAUTH_SCOPES: SCOPE,
    OAUTH_CODE_CHALLENGE_METHOD: 'S256',
    ENABLE_OAUTH_SIGNUP: 'true',
    ENABLE_OAUTH_GROUP_MANAGEMENT: 'true',
    ENABLE_OAUTH_GROUP_CREATION: 'true',
    OAUTH_GROUP_CLAIM: 'groups',
    ENABLE_OAUTH_ROLE_MANAGEMENT: 'true',
    OAUTH_ROLES_CLAIM: 'groups',
    OAUTH_ALLOWED_ROLES: GROUP,
    WEBUI_URL: origin,
    WEBUI_SECRET_KEY: randomBytes(32).toString('hex'),
    DATA_DIR: join(folder, `data-${port}`),
    // No model is loaded.
    OFFLINE_MODE: 'true',
    RAG_EMBEDDING_ENGINE: 'openai',
    ENABLE_OLLAMA_API: 'false',
    ENABLE_OPENAI_API: 'false',
  }
  const command = [join(folder, 'venv', 'bin', 'open-webui'), 'serve', '--host', 'localhost', '--port', String(port)]
  const running = await startProgram({ command, folder, environment, address: `${origin}/health` })
  try {
    // Its first user is its administrator, whatever the claim says.
    const admin = { name: 'Admin', email: 'admin@acme.test', password: 'correct horse battery staple' }
    const headers = { 'content-type': 'application/json' }
    await fetch(`${origin}/api/v1/auths/signup`, { method: 'POST', headers, body: JSON.stringify(admin) })
    const read = async (tab: Page) => {
      const own = await tab.request.get(`${origin}/api/v1/auths/`)
      if (own.status() !== 200) return String(own.status())
      const { role } = (await own.json()) as { readonly role: string }
      const groups = (await (await tab.request.get(`${origin}/api/v1/groups/`)).json()) as readonly {
        readonly name: string
      }[]
      return `${role} of ${groups
        .map(({ name }) => name)
        .toSorted()
        .join(' ')}`
    }
    const login = `${origin}/oauth/oidc/login`
    const found = await visits(stage, login, read, async () => read(await visit(stage, login)))
    const name = await pythonVersion(folder, 'open-webui')
    const expected = { outside: '401', inside: `user of ${OTHER} ${GROUP}`, after: '401' }
    return judge(stage, name, found, expected, running.output())
  } finally {
    await running.stop()
  }
}
