import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { command, type CommandOptions } from '../../support/command.ts'
import type { Finished } from '../../support/process.ts'
import type { TestServer } from '../../support/server.ts'
import type { Members } from '../../support/tasks.ts'

export const CLIENT_SECRET = 'board-s3cret-of-the-file'
export const PROVIDER_SECRET = 'entra-s3cret-of-the-file'
const KEY = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'a', use: 'sig' }

/** The records of a file with each kind, and most members. */
export const RECORDS = {
  organizations: [{ organization_id: 'acme', name: ' Acme ' }],
  groups: [{ group_id: 'finance', name: 'Finance team', protected: true }, { group_id: 'acme/ops' }],
  apis: [
    {
      resource: 'https://api.acme.test',
      name: { de: 'Projekte', default: 'Projects' },
      scopes: [
        {
          name: 'projects:read',
          sentence: { en: 'Read your projects', de: 'Ihre Projekte lesen' },
          granted_to: 'users',
        },
        { name: 'projects:write', sentence: 'Write', granted_to: 'users', step_up: { level: '2fa', max_age: 60 } },
      ],
      tokens: { format: 'opaque', lifetime: 600 },
      groups: 'roles',
      group_words: ['finance=pays', 'acme/ops'],
    },
    {
      resource: 'https://other.acme.test/',
      scopes: [{ name: 'other', sentence: 'Others', granted_to: 'approved-clients' }],
      exchange: [{ resource: 'https://api.acme.test', scope: 'other' }],
    },
  ],
  domains: { trusted: ['*.Acme.test'], blocked: [{ pattern: 'bad.example', note: 'spam' }, 'worse.example'] },
  providers: [
    {
      provider_id: 'entra',
      template: 'entra',
      name: 'Acme',
      issuer: 'https://login.microsoftonline.com/1a2b3c4d-0000-0000-0000-000000000000/v2.0',
      client_id: 'grantor',
      client_secret: { file: 'entra-secret' },
      domains: ['ACME.test'],
      sign_up: 'domains',
      organization_id: 'acme',
    },
  ],
  clients: [
    {
      client_id: 'board',
      client_name: 'Board',
      redirect_uris: ['https://board.acme.test/callback', 'https://board.acme.test/other'],
      post_logout_redirect_uris: ['https://board.acme.test/bye'],
      default_max_age: 0,
      require_auth_time: true,
      id_token_signed_response_alg: 'ES256',
      client_secret: { env: 'BOARD_SECRET' },
      scope: 'projects:write  openid projects:read',
      approved_scope: 'other',
      rules: { consent: 'implied', groups: 'groups', group_words: ['finance=Editor'] },
    },
    {
      client_id: 'app',
      client_name: 'App',
      token_endpoint_auth_method: 'none',
      redirect_uris: ['https://app.acme.test/callback'],
      dpop_bound_access_tokens: true,
    },
    { client_id: 'job', client_name: 'Job', jwks: { keys: [KEY] } },
  ],
} as const

/** The command and the files in the folder of a server. */
export function openFiles({ folder }: Pick<TestServer, 'folder'>) {
  writeFileSync(join(folder, 'entra-secret'), `${PROVIDER_SECRET}\n`, { mode: 0o600 })
  let files = 0
  const write = (text: string): string => {
    files += 1
    const path = join(folder, `file-${files}.yaml`)
    writeFileSync(path, text)
    return path
  }
  const writeSet = (records: Members, set = 'production'): string => write(stringify({ version: 1, set, ...records }))
  const apply = (words: readonly string[], options: CommandOptions = {}): Promise<Finished> =>
    command(['apply', ...words], {
      variables: { BOARD_SECRET: CLIENT_SECRET, ENTRA_SECRET: PROVIDER_SECRET },
      ...options,
    })
  /** Applies what must succeed, and returns what is printed. */
  const applied = async (path: string, ...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await apply(['-f', path, '--yes', ...words])
    assert.deepEqual([code, stderr], [0, ''], stdout)
    return stdout
  }
  return { write, writeSet, apply, applied }
}
