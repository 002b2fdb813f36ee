import { html } from '../markup.ts'
import type { DeviceTexts } from './device-texts.ts'

export const deviceEnglish: DeviceTexts = {
  title: 'Connect a device',
  typeCode: 'Enter the code that your device shows.',
  code: 'Code',
  codeHint: 'Eight letters',
  sentByOthers:
    'Did another person send you this code? Then close this page: that person would get access to your account.',
  codeMissing: 'Enter the code that your device shows.',
  codeWrong:
    'This code does not work. Compare it with the one on your device, which may have expired: then start again there.',
  signIn: 'to connect a device',

  heading: 'Connect this device?',
  isShown: 'Is this code on your device now?',
  saysItIs: (client) => html`The device says that it is ${client}. This was not checked.`,
  is: (client) => html`The device is ${client}.`,
  askedHere: (ago) => `It asked ${ago}, from your network.`,
  askedElsewhere: (ago, network) => html`It asked ${ago}, from another network: ${network}.`,
  phishing: 'Did another person send you the code? Then deny: that person would get access to your account.',
  isOwn: 'I started this on a device of my own',
  unconfirmed: 'Check this box if you started it yourself. If another person sent you the code, deny the request.',
  connect: 'Connect the device',

  connected: 'Connected',
  goBack: 'Return to your device. You can close this page.',
  notYou: (connectedApps) => html`You did not start this? Remove the access under ${connectedApps}.`,
  denied: 'Denied',
  deniedHint: 'The device gets no access. You can close this page.',
  refused: 'The device was not connected',
  startAgain: 'Nothing was shared. You can close this page, and start again on your device.',
}
