import type { Command } from 'commander'
import { readConfig } from '../../config/config.ts'
import {
  replaceLeakedSecret,
  rotateSecret,
  type EndedCredentials,
  type SecretRotation,
} from '../../maintenance/rotate-secret.ts'
import { visible } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { withJson } from '../lib/options.ts'
import { withRuntime } from '../lib/runtime.ts'
import type { AddVerb } from '../lib/task-verb.ts'
import type { Terminal } from '../lib/terminal.ts'
import { forShell } from '../../base/shell.ts'

interface RotateOptions {
  readonly json?: true
  readonly leaked?: true
  readonly yes?: true
}

/** The verbs of `grantor secret`. */
export const SECRET_VERBS: readonly AddVerb[] = [addRotate]

/** `grantor secret rotate` */
function addRotate(noun: Command, terminal: Terminal): void {
  withJson(noun.command('rotate'))
    .description('Change the root secret. Issued tokens and credentials stay valid, except with --leaked.')
    .option('--leaked', 'the secret may be known to others: end everything that was issued, and replace all keys')
    .option('--yes', 'confirm --leaked')
    .action(({ json, leaked, yes }: RotateOptions) => (leaked ? replace(terminal, json, yes) : rotate(terminal, json)))
}

async function rotate(terminal: Terminal, json: true | undefined): Promise<void> {
  const rotation = await withRuntime(terminal, 'refuse', (context) => rotateSecret(context, readConfig()))
  if (json) terminal.printJson({ leaked: false, ...documentOf(rotation) })
  else terminal.print(['Changed the root secret. Everything that was issued stays valid.', ...nextSteps(rotation)])
}

async function replace(terminal: Terminal, json: true | undefined, yes: true | undefined): Promise<void> {
  if (!yes) {
    throw new UsageError(
      'This ends all sessions, tokens, client secrets, registration access tokens, initial access tokens, and credentials of APIs and administrators. Running servers stop. To confirm, add --yes.',
    )
  }
  const { ended, ...rotation } = await withRuntime(terminal, 'refuse', (context) =>
    replaceLeakedSecret(context, readConfig()),
  )
  if (json) terminal.printJson({ leaked: true, ...documentOf(rotation), ended })
  else terminal.print([...nextStepsAfterLeak(rotation), ...endedLines(ended)])
}

function documentOf({ file, isMasterKeyFormerSecret }: SecretRotation) {
  return { file: file ?? null, master_key_is_former_secret: isMasterKeyFormerSecret }
}

function nextSteps({ file, isMasterKeyFormerSecret }: SecretRotation): readonly string[] {
  return [
    file === undefined
      ? 'Remove GRANTOR_SECRET_PREVIOUS from every node. A backup from before needs the previous secret.'
      : `The new secret is in ${file}: back it up. A backup from before needs the secret that was backed up with it.`,
    ...(isMasterKeyFormerSecret
      ? [
          'The former secret remains the master key of this database. If others may know it, run: grantor secret rotate --leaked',
        ]
      : []),
  ]
}

function nextStepsAfterLeak({ file }: SecretRotation): readonly string[] {
  return [
    'Replaced the root secret, the master key and all signing keys. Everything that was issued before has ended.',
    file === undefined
      ? 'Running servers stop within a second. Remove GRANTOR_SECRET_PREVIOUS from every node, and start the nodes.'
      : `A running server stops within a second: start it again. The new secret is in ${file}: back it up.`,
    'APIs that verify JWTs locally accept the old ones until they fetch the keys again, five minutes from now at the latest.',
  ]
}

function endedLines({ apis, administrators, providers }: EndedCredentials): readonly string[] {
  return [
    '',
    'Users sign in again, and clients that register themselves register again. These need new credentials from you:',
    '  clients whose secret you hand out: grantor client rotate-secret <client>',
    ...apis.map((resource) => `  the API ${resource}: grantor api create-credentials ${forShell(resource)}`),
    ...providers.map((id) => `  the provider ${id}: grantor provider update ${forShell(id)} --client-secret -`),
    ...administrators.map((name) => `  the administrator ${visible(name)}: grantor admin create`),
  ]
}
