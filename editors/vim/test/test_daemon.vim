vim9script
# What the person says about conversations is told to the companion, and what is wrong to the person.

import autoload 'outrigger/companion.vim'
import autoload 'outrigger/connection.vim'
import autoload 'outrigger/daemon.vim'
import autoload 'outrigger/log.vim'
import './program.vim'

const OFF = ', so there are no conversations; see :help outrigger-daemon'
const KNOWN = '; known are enabled, url, tokenFile, mode, model'

def g:Test_what_is_said_about_conversations_is_sent_and_what_is_wrong_is_told()
  const all = {enabled: false, url: 'http://127.0.0.1:1', tokenFile: '/t', mode: 'plan', model: 'm'}
  for [said, sent, complaints] in [
      [true, true, []],
      [false, false, []],
      [{}, {}, []],
      [all, all, []],
      [{tokenFile: '~/token'}, {tokenFile: $HOME .. '/token'}, []],
      ['yes', false, ['the option daemon has to be v:true, v:false or a Dictionary' .. OFF]],
      [{enabled: 'no', url: 'u'}, false, ['the option daemon.enabled has to be v:true or v:false' .. OFF]],
      [{url: 1, mode: 'plan'}, false, ['the option daemon.url has to be a String' .. OFF]],
      [{tokenFile: true}, false, ['the option daemon.tokenFile has to be a String' .. OFF]],
      [{mode: []}, false, ['the option daemon.mode has to be a String' .. OFF]],
      [{model: 1}, false, ['the option daemon.model has to be a String' .. OFF]],
      [{url: 'u', token_file: '/t'}, {url: 'u'}, ['there is no option daemon.token_file' .. KNOWN]],
  ]
    assert_equal({sent: sent, complaints: complaints}, daemon.Read(said), string(said))
  endfor
enddef

def g:Test_a_token_is_neither_sent_nor_repeated()
  const read = daemon.Read({enabled: true, token: 'hunter2'})
  assert_equal(false, read.sent)
  assert_equal(1, len(read.complaints))
  assert_match('daemon\.tokenFile', read.complaints[0])
  assert_notmatch('hunter2', read.complaints[0])
enddef

# What the companion is told when the person has set these options.
def Told(options: dict<any>): dict<any>
  g:outrigger_options = options
  program.Offer()
  companion.Restart()
  const told = program.Sent('initialize', 1)[0].initializationOptions
  const pid = connection.Pid()
  companion.Stop()
  program.End(pid)
  program.Stop()
  unlet g:outrigger_options
  return told
enddef

def g:Test_the_companion_is_told_what_the_person_has_said_about_conversations()
  for options in [
      {},
      {daemon: false},
      {daemon: {url: 'u', tokenFile: '/t'}, agents: ['qwen']},
  ]
    assert_equal(options, Told(options))
  endfor
enddef

def g:Test_a_mistake_about_conversations_is_told_and_leaves_the_other_options_as_they_are()
  assert_equal({agents: ['qwen'], daemon: false}, Told({agents: ['qwen'], daemon: {url: 1}}))
  assert_match('daemon\.url has to be a String', log.Tail(20)->join("\n"))
enddef
