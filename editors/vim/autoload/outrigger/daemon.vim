vim9script
# What the person says about conversations with a daemon: `daemon` in g:outrigger_options.
#
# Only names and types are checked here, because the program would tell of those in the log alone.
# Whether an address or a mode can be used is the program's business.

const NAMES = ['enabled', 'url', 'tokenFile', 'mode', 'model']

# What ends every sentence about a mistake. Without it, conversations would go to another daemon than
# the one that was meant, or in another mode.
const OFF = ', so there are no conversations; see :help outrigger-daemon'

# What is `sent`, and what is wrong, as sentences (`complaints`).
export def Read(said: any): dict<any>
  if type(said) == v:t_bool
    return {sent: said, complaints: []}
  elseif type(said) != v:t_dict
    return {sent: false, complaints: ['the option daemon has to be v:true, v:false or a Dictionary' .. OFF]}
  endif
  final sent: dict<any> = {}
  final mistakes: list<string> = []
  final unknown: list<string> = []
  for name in keys(said)->sort()
    const is_bool = name == 'enabled'
    if name == 'token'
      mistakes->add('the option daemon.token is not taken, because settings are copied and shared: write '
        .. 'the token to a file that only you can read, and name it in daemon.tokenFile' .. OFF)
    elseif NAMES->index(name) < 0
      unknown->add($'there is no option daemon.{name}; known are {NAMES->join(", ")}')
    elseif type(said[name]) != (is_bool ? v:t_bool : v:t_string)
      mistakes->add($'the option daemon.{name} has to be ' .. (is_bool ? 'v:true or v:false' : 'a String') .. OFF)
    else
      sent[name] = name == 'tokenFile' ? WithoutTilde(said[name]) : said[name]
    endif
  endfor
  return {sent: empty(mistakes) ? sent : false, complaints: mistakes + unknown}
enddef

# The program wants an absolute path.
def WithoutTilde(path: string): string
  return path =~ '^\~/' ? $HOME .. path->strpart(1) : path
enddef
