"""The platform that looks around every second, where it usually does every 5 or 15, and asks a model once."""

from services.cli.main import main
from services.recorder import reconciler
from services.runtime import lag
from services.runtime.llm.retries import RetryPolicy
from services.store import answering, usage

if __name__ == "__main__":
    for each in (answering, lag, reconciler, usage):
        each._INTERVAL = 1.0
    RetryPolicy.__init__.__defaults__ = (1, *RetryPolicy.__init__.__defaults__[1:])
    main()
