"""`python -m engram`: the command line, where the script `engram` is not on the path."""

from engram.cli import main

if __name__ == "__main__":
    main()
