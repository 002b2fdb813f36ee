import type { Command } from 'commander'

/**
 * The argument or option that a member of a task's input comes from: `--client` for `client_id`, `--overlap` for
 * `overlap_seconds`, `<token>`. undefined: the command has none of that name.
 */
export function spellingOf(command: Command, member: string): string | undefined {
  const words = member.split('_')
  // All words first: of `--unused` and `--unused-since`, `unused_since` is the second.
  const names = words.map((_, index) => words.slice(0, words.length - index).join('-'))
  for (const name of names) {
    if (command.registeredArguments.some((argument) => argument.name() === name)) return `<${name}>`
    if (command.options.some((option) => option.name() === name)) return `--${name}`
  }
  return undefined
}
