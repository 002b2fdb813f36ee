import { renderMail } from '../../src/web/mail/mail.ts'
import { createRenderer } from '../../src/web/render.ts'
import { MAIL_BRANDING, MAIL_CONTENTS } from '../web/mail-samples.ts'
import { branding, samples } from '../web/samples.ts'
import { commandAnswers } from './command-answers.ts'
import { eventSentences } from './event-sentences.ts'
import { formPages } from './form-pages.ts'
import { readable } from './readable.ts'

/** What a reader gets, rendered from samples. `npm run docs` writes these files, so a change of a sentence is a diff of them. */
export const SURFACES: Readonly<Record<string, () => string | Promise<string>>> = {
  'test/texts/pages.txt': () => {
    const { render } = createRenderer(branding, '/pictures/')
    const pages = [...samples].map(([name, page]) => [name, readable(render(page, 'en'))] as const)
    return together(pages)
  },
  'test/texts/mails.txt': () =>
    together(
      MAIL_CONTENTS.map((content) => {
        const mail = renderMail(MAIL_BRANDING, { content, address: 'ada@acme.test', language: 'en' })
        const name = content.kind === 'notice' ? `notice ${content.notice}` : content.kind
        return [name, `Subject: ${mail.subject}\n\n${mail.text.trim()}`]
      }),
    ),
  'test/texts/events.txt': eventSentences,
  'test/texts/commands.txt': commandAnswers,
  'test/texts/forms.txt': formPages,
}

function together(parts: readonly (readonly [name: string, text: string])[]): string {
  return parts.map(([name, text]) => `=== ${name}\n${text}\n`).join('\n')
}
