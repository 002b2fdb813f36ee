import { html } from '../markup.ts'
import type { DeviceTexts } from './device-texts.ts'

export const deviceGerman: DeviceTexts = {
  title: 'Gerät verbinden',
  typeCode: 'Geben Sie den Code ein, den Ihr Gerät anzeigt.',
  code: 'Code',
  codeHint: 'Acht Buchstaben',
  sentByOthers:
    'Hat Ihnen jemand diesen Code geschickt? Dann schließen Sie diese Seite: Der Absender bekäme Zugriff auf Ihr Konto.',
  codeMissing: 'Geben Sie den Code ein, den Ihr Gerät anzeigt.',
  codeWrong:
    'Dieser Code gilt nicht. Vergleichen Sie ihn mit dem auf Ihrem Gerät. Vielleicht ist er abgelaufen: Dann beginnen Sie dort neu.',
  signIn: 'um ein Gerät zu verbinden',

  heading: 'Dieses Gerät verbinden?',
  isShown: 'Steht dieser Code gerade auf Ihrem Gerät?',
  saysItIs: (client) => html`Das Gerät gibt sich als ${client} aus. Das wurde nicht geprüft.`,
  is: (client) => html`Das Gerät ist ${client}.`,
  askedHere: (ago) => `Die Anfrage kam ${ago} aus Ihrem Netz.`,
  askedElsewhere: (ago, network) => html`Die Anfrage kam ${ago} aus einem anderen Netz: ${network}.`,
  phishing: 'Hat Ihnen jemand den Code geschickt? Dann lehnen Sie ab: Der Absender bekäme Zugriff auf Ihr Konto.',
  isOwn: 'Ich habe das auf einem eigenen Gerät begonnen',
  unconfirmed:
    'Setzen Sie den Haken, wenn Sie das selbst begonnen haben. Hat Ihnen jemand den Code geschickt, lehnen Sie ab.',
  connect: 'Gerät verbinden',

  connected: 'Verbunden',
  goBack: 'Kehren Sie zu Ihrem Gerät zurück. Diese Seite können Sie schließen.',
  notYou: (connectedApps) => html`Sie haben das nicht begonnen? Entfernen Sie den Zugriff unter ${connectedApps}.`,
  denied: 'Abgelehnt',
  deniedHint: 'Das Gerät bekommt keinen Zugriff. Diese Seite können Sie schließen.',
  refused: 'Das Gerät wurde nicht verbunden',
  startAgain: 'Es wurde nichts weitergegeben. Schließen Sie diese Seite und beginnen Sie auf Ihrem Gerät neu.',
}
