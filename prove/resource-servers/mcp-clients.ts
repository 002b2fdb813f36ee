import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openResourceServer } from '../../tools/mcp-server.ts'
import { registerClient } from '../../tools/flow.ts'
import { openPerson } from '../../tools/person.ts'
import type { Grantor } from './grantor.ts'
import { declareApi, type ScopePrefix } from './declare-api.ts'
import { prepareFolder, preparePython, pythonOf, runProgram } from './programs.ts'

const run = promisify(execFile)
/** The result of the tool `count` of every MCP server of this proof. */
const COUNT = '7'

/** A released MCP client. Those in TypeScript are in test/clients/. */
interface McpClient {
  readonly name: string
  /** The folder below examples/resource-servers. */
  readonly folder: string
  readonly prepare: (folder: string) => Promise<void>
  readonly command: (folder: string) => readonly [string, ...string[]]
}

const CLIENTS: readonly McpClient[] = [
  ...[
    { name: 'MCP Python SDK', folder: 'mcp-python' },
    { name: 'FastMCP', folder: 'fastmcp' },
  ].flatMap(({ name, folder }) =>
    ['person', 'machine'].map((user): McpClient => ({
      name: `${name}, a ${user}`,
      folder,
      prepare: preparePython,
      command: (prepared) => [pythonOf(prepared), join(prepared, `${user}.py`)],
    })),
  ),
  {
    name: 'MCP Go SDK, a person',
    folder: 'mcp-go',
    prepare: (folder) => runProgram('go', ['build', '-o', 'client', '.'], folder),
    command: (folder) => [join(folder, 'client')],
  },
]

export interface McpServer {
  readonly name: string
  readonly url: string
  readonly prefix: ScopePrefix
  /** The names of the clients that cannot connect. */
  readonly excluded: RegExp | undefined
  /** The scope of the last accepted token. undefined: the server's tools check the scope themselves. */
  readonly lastScope: (() => string) | undefined
}

/** Checks that each client gets from the 401 of an MCP server to a tool call. */
export async function proveClients(
  grantor: Grantor,
  root: string,
  mcpServer: McpServer,
  report: (client: string, what: string) => void,
): Promise<void> {
  const person = createServer((request, response) => {
    void readAll(request)
      .then((link) => allow(grantor, link))
      .then((callback) => response.writeHead(303, { location: callback.href }).end())
      .catch((cause: unknown) => response.writeHead(500).end(String(cause)))
  })
  await new Promise<void>((resolve) => void person.listen(0, '127.0.0.1', resolve))
  const machine = await registerClient(grantor, {
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'client_secret_basic',
  })
  const env = {
    ...process.env,
    ISSUER: grantor.origin,
    RESOURCE: mcpServer.url,
    SCOPE: `${mcpServer.prefix}:read`,
    PERSON: `http://127.0.0.1:${(person.address() as AddressInfo).port}/`,
    BROWSER: 'sh browser.sh %s &',
    CLIENT_ID: machine.client_id,
    CLIENT_SECRET: machine.client_secret,
  }
  try {
    await runProgram('curl', ['--version'], root)
    for (const client of CLIENTS.filter(({ name }) => mcpServer.excluded?.test(name) !== true)) {
      const folder = await prepareFolder(client, root)
      const [command, ...rest] = client.command(folder)
      const output = await run(command, rest, { cwd: folder, env, timeout: 60_000 }).then(
        ({ stdout }) => stdout.trim(),
        (cause: unknown) => String(cause).slice(-1500),
      )
      const [title, scope] = [`${client.name} → ${mcpServer.name}`, mcpServer.lastScope?.()]
      if (output !== COUNT) report(title, output)
      else if (scope?.split(' ').includes(env.SCOPE) === false) report(title, `the scope of its token is "${scope}"`)
      else console.log(`${title}: called the tool${scope === undefined ? '' : ` with ${scope}`}`)
    }
  } finally {
    person.closeAllConnections()
    person.close()
  }
}

/** Follows the link of a client to its callback. OIDCProxy asks the person first, and binds the answer to the browser. */
async function allow(grantor: Grantor, link: string): Promise<URL> {
  const { origin } = new URL(link)
  if (origin === grantor.origin) return openPerson(origin).allow(link)
  const atProxy = openPerson(origin)
  const { url } = await atProxy.submit(await atProxy.visit(link), { action: 'approve' })
  return (await atProxy.visit(await openPerson(grantor.origin).allow(url))).url
}

/** Starts an MCP server, one of three declared APIs, with the minimal document of the README, which has no scopes. */
export async function openMinimalServer(grantor: Grantor): Promise<McpServer & { readonly close: () => void }> {
  let close = (): void => undefined
  const after = (end: unknown): void => void (close = end as () => void)
  const options = { issuer: grantor.origin, path: '/mcp', scopes: undefined } as const
  const { resource, lastClaims } = await openResourceServer({ after }, options)
  await declareApi(grantor, resource, 'orders', 'at+jwt')
  const lastScope = (): string => {
    const scope = lastClaims()?.['scope']
    return typeof scope === 'string' ? scope : ''
  }
  return {
    name: 'the document of the README',
    url: resource,
    prefix: 'orders',
    excluded: undefined,
    lastScope,
    close,
  }
}

async function readAll(stream: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  for await (const part of stream) text += String(part)
  return text
}
