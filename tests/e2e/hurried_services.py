"""The platform that measures and looks around every second, where it usually does every 5 or 15."""

from services.cli.main import main
from services.recorder import reconciler
from services.runtime import lag
from services.store import answering, usage

if __name__ == "__main__":
    for each in (answering, lag, reconciler, usage):
        each._INTERVAL = 1.0
    main()
