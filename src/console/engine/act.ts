import { answer, stopped } from './answer.ts'
import { compare, readNow } from './compare.ts'
import { chooseRows, confirm, countMatches } from './confirm.ts'
import type { ConsoleAnswer } from './context.ts'
import type { OpenScreen } from './open-screen.ts'
import { performEach } from './perform.ts'
import { admit } from './sent.ts'

/**
 * Performs the task of a form, for each row that was chosen: each is authorized and audited, and one that fails does not stop the others.
 *
 * @throws OAuthError invalid_request, insufficient_scope
 */
export async function act(open: OpenScreen, line: { task: string }): Promise<ConsoleAnswer> {
  const sent = admit(open, line)
  const stop = chooseRows(sent) ?? (await confirm(sent)) ?? (await countMatches(sent))
  if (stop !== undefined) return stopped(sent, stop)
  const seen = await readNow(sent)
  const input = await compare(sent, seen)
  if (input.kind !== 'input') return stopped(sent, input)
  return answer(sent, seen, await performEach(sent, input.members, seen.answers ?? {}))
}
