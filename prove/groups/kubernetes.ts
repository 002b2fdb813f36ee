import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { redeem, REDIRECT_URI, refresh, obtainCode, type RequestTarget, type Tokens } from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { issueCertificate } from '../proxies/campaign.ts'
import { runProgram, versionIn } from '../resource-servers/programs.ts'
import { GROUP, openStage, OTHER, SCOPE, type Stage } from './stage.ts'

interface LoginTokens extends Tokens {
  readonly id_token: string
}

const FORWARDED = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '127.0.0.1' } as const

/** Whom the authenticator takes a token for. */
interface Judged {
  readonly known?: boolean
  readonly groups?: readonly string[]
}

/** The authenticator of the API server of Kubernetes, in a program without a cluster. It accepts an issuer with TLS alone. */
export async function proveKubernetes(plain: Stage): Promise<string> {
  const source = join(plain.folder, 'kubernetes')
  const program = join(source, 'authenticator')
  cpSync(join('prove', 'groups', 'kubernetes'), source, { recursive: true })
  if (!existsSync(program)) await runProgram('go', ['build', '-o', program, '.'], source)
  const [tls = 0] = await freePorts(1)
  const issuer = `https://localhost:${tls}`
  const stage = await openStage(plain, { GRANTOR_ISSUER: issuer, GRANTOR_TRUST_PROXY: '127.0.0.1' })
  const { certificate, key } = await issueCertificate()
  const authority = join(source, 'ca.pem')
  writeFileSync(authority, certificate)
  const proxy = createServer({ cert: certificate, key }, ({ method, url, headers }, answer) => {
    const { port } = stage.grantor
    request({ port, host: 'localhost', method, path: url, headers: { ...headers, ...FORWARDED } }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    }).end()
  }).listen(tls, 'localhost')
  try {
    const client = await stage.makeClient(REDIRECT_URI, 'asked')
    const { port } = stage.grantor
    const behind = openRemoteServer({ port, host: `localhost:${tls}`, agent: new Agent(), limitMs: 20_000 })
    const server: RequestTarget = {
      inject: (options) => behind.inject({ ...options, headers: { ...options.headers, ...FORWARDED } }),
    }
    const child = spawn(program, [issuer, client.client_id, authority], { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const next = async (): Promise<Judged> => JSON.parse(String((await lines.next()).value)) as Judged
    await next()
    const judge = async ({ id_token: token }: LoginTokens): Promise<string> => {
      child.stdin.write(`${token}\n`)
      return JSON.stringify((await next()).groups)
    }
    await stage.setMember(true)
    const code = await obtainCode(server, client, { scope: SCOPE })
    const tokens = (await redeem(server, client, code)).json<LoginTokens>()
    const inside = await judge(tokens)
    await stage.setMember(false)
    const refreshed = (await refresh(server, client, tokens.refresh_token ?? '')).json<LoginTokens>()
    const after = await judge(refreshed)
    child.stdin.end()
    await once(child, 'close')
    const said = `in ${inside}, ${after} with the token of the next refresh after the removal`
    const expected = [[OTHER, GROUP], [OTHER]].map((ids) => JSON.stringify(ids.map((id) => `grantor:${id}`)))
    if (inside !== expected[0] || after !== expected[1]) stage.report(`kubernetes: ${said}`)
    return `k8s.io/apiserver ${versionIn(join(source, 'go.mod'), /apiserver v(\S+)/)}: ${said}`
  } finally {
    proxy.close()
    await stage.grantor.close()
  }
}
