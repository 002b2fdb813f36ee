import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient } from '../../src/admin/client/metadata.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import { describeMachine } from '../../tools/machine.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { readOptions, string } from '../../tools/options.ts'
import { startProgram } from '../../tools/process/program.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openGrantor } from './grantor.ts'
import { openMinimalServer, proveClients } from './mcp-clients.ts'
import { declareApi } from './declare-api.ts'
import { prepareFolder, preparePython, pythonOf } from './programs.ts'
import { expectedAnswer, RECIPES, withOidcProxy, type Recipe } from './recipes.ts'
import { requestResource, type Answer } from './resource-server.ts'
import { mintCases, type Flaw } from './token-cases.ts'

/** Released verifiers and MCP clients, with good and with forged tokens. See docs/resource-servers.md. */

const { only = '', folder: kept } = readOptions({
  only: string('text', 'only the programs whose name contains the text; clients: the MCP clients'),
  folder: string('folder', 'keep the built programs in this folder, and use those that it has'),
})
/** One for each kind of scopes. */
const OTHER_RESOURCES = { orders: 'https://other.example', tasks: 'https://tasks.example' } as const

const OIDC_PROXY = 'FastMCP, OIDCProxy'

beginSession()
const root = kept ?? openFolder()
const grantor = await openGrantor({})
const upstream = createServer((_request, response) => response.end('{"orders":7}')).listen(0, '127.0.0.1')
const violations: string[] = []
try {
  await declareApi(grantor, OTHER_RESOURCES.orders, 'orders', 'at+jwt')
  await declareApi(grantor, OTHER_RESOURCES.tasks, 'tasks', 'at+jwt')
  for (const recipe of RECIPES.filter(({ name }) => name.toLowerCase().includes(only.toLowerCase())))
    await prove(recipe).catch((cause: unknown) => report(recipe.name, String(cause)))
  if (OIDC_PROXY.toLowerCase().includes(only.toLowerCase()))
    await proveOidcProxy().catch((cause: unknown) => report(OIDC_PROXY, String(cause)))
  if ('clients'.includes(only)) {
    const minimal = await openMinimalServer(grantor)
    await proveClients(grantor, root, minimal, report)
    minimal.close()
  }
} finally {
  upstream.close()
  await grantor.close()
}
console.log(describeMachine())
console.log(`violations: ${violations.length}`)
process.exitCode = violations.length === 0 ? 0 : 1

async function prove(recipe: Recipe): Promise<void> {
  const folder = await prepareFolder(recipe, root)
  const [port = 0] = await freePorts(1)
  const resource = `http://localhost:${port}${recipe.path}`
  const { id, secret } = await declareApi(grantor, resource, recipe.prefix, recipe.jwtType)
  const environment = {
    ISSUER: grantor.origin,
    RESOURCE: resource,
    MCP_PORT: String(port),
    API_ID: id,
    API_SECRET: secret,
    UPSTREAM: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
  }
  const command = recipe.start(folder, environment)
  const running = await startProgram({ command, folder, environment: { ...environment }, address: resource })
  try {
    const { tokens, revoke } = await mintCases(grantor, {
      resource,
      prefix: recipe.prefix,
      jwtType: recipe.jwtType,
      otherResource: OTHER_RESOURCES[recipe.prefix],
    })
    const answers: { readonly flaw: Flaw; readonly answer: Answer }[] = []
    // A cached introspection response must not be used after the revocation.
    const before = await requestResource(recipe, resource, tokens.revoked)
    if (before !== 'served') report(recipe.name, `a token that is not revoked yet is answered by ${before}`)
    await revoke()
    for (const [flaw, token] of Object.entries(tokens) as [Flaw, string | undefined][]) {
      const answer = await requestResource(recipe, resource, token)
      answers.push({ flaw, answer })
      const expected = expectedAnswer(recipe, flaw)
      if (answer !== expected) report(recipe.name, `${flaw} is answered by ${answer} instead of ${expected}`)
    }
    const byAnswer = Map.groupBy(answers, ({ answer }) => answer)
    const lines = [...byAnswer].map(([answer, some]) => `${answer}: ${some.map(({ flaw }) => flaw).join(', ')}`)
    console.log(`${recipe.name} (${await recipe.version(folder)})\n  ${lines.join('\n  ')}`)
    if (recipe.path === '/mcp' && recipe.way === 'introspection')
      await proveClients(
        grantor,
        root,
        { name: recipe.name, url: resource, prefix: recipe.prefix, excluded: undefined, lastScope: undefined },
        report,
      )
    if (only !== '' && violations.length > 0) console.error(running.output().slice(-4000))
  } finally {
    await running.stop()
  }
}

/** OIDCProxy accepts only tokens of its own, so clients alone can try it. */
async function proveOidcProxy(): Promise<void> {
  const folder = await prepareFolder({ folder: 'fastmcp', prepare: preparePython }, root)
  writeFileSync(join(folder, 'with-proxy.py'), withOidcProxy(folder))
  const [port = 0] = await freePorts(1)
  const [origin, resource] = [`http://localhost:${port}`, `http://localhost:${port}/mcp`]
  const { id, secret } = await declareApi(grantor, resource, 'tasks', 'at+jwt')
  const input = {
    metadata: { client_name: 'Tasks', redirect_uris: [`${origin}/auth/callback`] },
    rules: { consent: 'asked', claims: 'id-token' } as const,
    approvedScope: NO_SCOPE,
  }
  const { client, secret: clientSecret = '' } = await createClient(grantor.context, input)
  const environment = {
    ISSUER: grantor.origin,
    RESOURCE: resource,
    MCP_PORT: String(port),
    API_ID: id,
    API_SECRET: secret,
    CLIENT_ID: client.id,
    CLIENT_SECRET: clientSecret,
    // It keeps its clients in files below the home folder.
    HOME: folder,
  }
  const command = [pythonOf(folder), join(folder, 'with-proxy.py')]
  const running = await startProgram({ command, folder, environment, address: resource })
  try {
    const server = {
      name: OIDC_PROXY,
      url: resource,
      prefix: 'tasks',
      // It has no grant for machines. On a loopback address the Go SDK does not follow its redirects.
      excluded: /machine|Go SDK/,
      lastScope: undefined,
    } as const
    await proveClients(grantor, root, server, report)
    if (only !== '' && violations.length > 0) console.error(running.output().slice(-4000))
  } finally {
    await running.stop()
  }
}

function report(name: string, what: string): void {
  violations.push(`${name}: ${what}`)
  console.error(`VIOLATION ${name}: ${what}`)
}
